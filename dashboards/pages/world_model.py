from dashboards.context import Context


def draw(context: Context) -> None: ...

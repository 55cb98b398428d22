"""Stand-ins for the shop and its admin panel: login, wish list, contact form, orders and reviews with Magento's REST API."""

from __future__ import annotations

from tests.webarena.sites.server import NOT_FOUND, Ask, Reply, Site, data, page, redirect


class Shopping(Site):
    cookie = "SHOP"
    account = ("emma.lopez@gmail.com", "Password.123")

    def reset(self) -> None:
        super().reset()
        self.orders: list[str] = ["B000000000"]
        self.reviews: list[tuple[str, int]] = []
        self.api_fails = False

    def handle(self, ask: Ask) -> Reply:
        if ask.path.startswith("/rest/"):
            return self._api(ask)
        parts = ask.path.strip("/").split("/")
        match (ask.method, *parts):
            case ("GET", ""):
                return page("One Stop Market", "<h1>One Stop Market</h1><a href='/contact'>Contact Us</a>")
            case ("GET", "customer", "account", "login", *_):
                return page("Customer Login", LOGIN)
            case ("POST", "customer", "account", "loginPost"):
                form, again = ask.form, "/customer/account/login/"
                return self.sign_in(form.get("email", ""), form.get("password", ""), "/", again)
            case ("GET", "customer", "section", "load"):
                return data({})
            case ("GET", "wishlist"):
                return page("My Wish List", "<h1>My Wish List</h1>") if ask.user else redirect("/customer/account/login/")
            case ("GET", "contact"):
                return page("Contact Us", "<textarea title='What’s on your mind?' name=comment></textarea>")
            case ("GET", "buy", str() as sku):
                self.orders.append(sku)
                return redirect("/checkout/onepage/success/")
            case ("GET", "checkout", "onepage", "success"):
                return page("Success", "<h1>Thank you for your purchase!</h1>")
            case ("GET", "sales", "order", "view", "order_id", str() as number):
                sku = self.orders[int(number) - 1]
                return page("Order", f"<div class='order-details-items ordered'>{sku}</div>")
            case ("GET", str() as product) if product.endswith(".html"):
                return page("Product", "<h1>Product</h1><p>Reviews</p>")
        return NOT_FOUND

    def _api(self, ask: Ask) -> Reply:
        if self.api_fails:
            return Reply("{}", 503, "application/json")
        if ask.path.endswith("/integration/admin/token"):
            return data("token")
        if ask.path == "/rest/V1/orders":
            return data({"items": [{"increment_id": f"{len(self.orders):09d}"}]})
        if ask.path.endswith("/reviews"):
            return data([{"nickname": name, "ratings": [{"rating_name": "Rating", "percent": p}]} for name, p in self.reviews])
        return NOT_FOUND


LOGIN = """<h1>Customer Login</h1><form method=post action="/customer/account/loginPost/">
<label>Email <input name=email></label><label>Password <input type=password name=password></label>
<button>Sign In</button></form>"""


class ShoppingAdmin(Site):
    cookie = "ADMIN"
    account = ("admin", "admin1234")

    @property
    def url(self) -> str:
        return f"{self.origin}/admin"

    def handle(self, ask: Ask) -> Reply:
        if ask.method == "POST":
            form = ask.form
            return self.sign_in(form.get("login[username]", ""), form.get("login[password]", ""), "/admin/dashboard", "/admin")
        if ask.user is None:
            return page("Magento Admin", ADMIN_LOGIN)
        if ask.path in ("/admin", "/admin/", "/admin/dashboard"):
            return page("Dashboard", "<h1>Dashboard</h1><p>Bestsellers</p>")
        if ask.path.startswith("/admin/sales_rule/promo_quote"):
            return page("New Cart Price Rule", PRICE_RULE)
        return NOT_FOUND


ADMIN_LOGIN = """<form method=post id=login-form action=/admin><label>Username <input name="login[username]"></label>
<label>Password <input type=password name="login[password]"></label><button>Sign in</button></form>"""

# WebArena's task 703 first runs a click on the section's title (prep_actions), then reads the fields in it
PRICE_RULE = """<h1>New Cart Price Rule</h1><label>Rule Name <input name=name></label>
<select name=website_ids><option selected>Main</select>
<select name=customer_group_ids><option>Nobody<option selected>All</select>
<div data-index=actions><button class=admin__collapsible-title onclick="document.getElementById('more').hidden=false">
Actions</button><div id=more hidden><select name=simple_action><option value=cart_fixed>Fixed</select>
<label>Discount <input name=discount_amount></label></div></div>"""

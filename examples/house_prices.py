"""House prices: twelve rules for a network, as a house owner would read them.

    python examples/house_prices.py             # 8,000 districts
    python examples/house_prices.py --quick     # a glance: fewer districts and rules
    python examples/house_prices.py --page prices.html

The table is generated: districts of a coast like California's, with income, age of the houses, rooms, people
per household, place and distance to the sea. A network learns the prices, in thousands. The rules imitate the
network: a start value, and what each rule that holds adds to it. The page shows them in a browser: any house
as a sum, what more rooms would change, and where the rules are far from the network.
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from clausewise import RuleRegressor


def districts(n_rows: int) -> tuple[pd.DataFrame, pd.Series]:
    """Return a generated table of districts and their median prices, in thousands."""
    rng = np.random.default_rng(0)
    place = rng.choice(["north", "bay", "valley", "south"], n_rows, p=[0.15, 0.3, 0.25, 0.3])
    inland = rng.gamma(1.5, 35, n_rows) + np.where(place == "valley", 90, 0)
    income = rng.lognormal(1.25, 0.45, n_rows) * np.where(place == "bay", 1.2, 1.0)
    rooms = np.clip(rng.normal(4.2 + 0.35 * income, 0.9), 1.5, 12)
    table = pd.DataFrame(
        {
            "income": income.round(2),
            "house age": rng.integers(1, 53, n_rows),
            "rooms": rooms.round(1),
            "people per household": np.clip(rng.normal(2.9, 0.6, n_rows), 1.2, 7).round(1),
            "km to the sea": inland.round(),
            "place": place,
        }
    )
    price = 42 * income + 110 * np.exp(-inland / 25) + 12 * rooms - 28 * (table["people per household"] - 3)
    price += np.where((place == "bay") & (inland < 60), 60, 0) - np.where(place == "north", 35, 0)
    price += np.where(table["house age"] > 40, 25, 0) + rng.normal(0, 25, n_rows)
    return table, pd.Series(price.clip(15, 800).round(1), name="price")


def trained(X: pd.DataFrame, price: pd.Series):
    """Return a network fitted to the prices."""
    encoder = make_column_transformer((OneHotEncoder(), ["place"]), remainder=StandardScaler())
    network = make_pipeline(encoder, MLPRegressor(hidden_layer_sizes=(64, 32), max_iter=120, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return network.fit(X, price)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer districts and rules")
    parser.add_argument("--page", metavar="FILE", help="also write the rules as a page for the browser")
    given = parser.parse_args()
    is_quick = given.quick
    X, price = districts(1_500 if is_quick else 8_000)
    X_train, X_test, y_train, y_test = train_test_split(X, price, random_state=0)
    network = trained(X_train, y_train)

    n_rules = 6 if is_quick else 12
    model = RuleRegressor(network, max_rules=n_rules).fit(X_train, y_train)
    rules = model.rules_
    print(f"The price of a district, in thousands, by {n_rules} rules:\n")
    print(rules)
    print("\nHow close they are to the network, and to the true prices, on districts they have not seen:\n")
    print(rules.evaluate(X_test, y_test, network=network))
    print("\nOne district:\n")
    print(rules.explain(X_test.iloc[:1])[0])
    if given.page is not None:
        frontier = model.frontier(X_train, y_train, by="rules", max_rules=2 * n_rules)
        title = f"What houses cost: {n_rules} rules"
        model.report(given.page, X_test, y_test, title=title, frontier=frontier)
        print(f"\nWrote {given.page}, a page to open in a browser.")
    short = RuleRegressor(network, max_rules=n_rules // 2, linear=3).fit(X_train, y_train).rules_
    print(f"\nHalf as many rules, with a linear part of at most three columns:\n\n{short}")
    measured = short.evaluate(X_test, network=network).to_network
    print(f"\nTheir R² to the network is {measured.r_squared:.3f}.")


if __name__ == "__main__":
    main()

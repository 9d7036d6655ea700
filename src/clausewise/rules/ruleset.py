"""The rule set that users hold: stored rules, with one method for everything that can be done with them.

Every method below is a delegate: it documents the call and hands it to a function of a higher folder, which
is imported when the method is called. This is the only module of `rules` that knows those folders exist.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.data.features import Features
from clausewise.data.labels import Label
from clausewise.rules.base import BaseRuleSet
from clausewise.rules.rule import Rule
from clausewise.rules.voting import Voting

if TYPE_CHECKING:
    from clausewise.analysis import (
        Comparison,
        Counterfactuals,
        Evaluation,
        Explanations,
        GlobalExplanation,
        Scorecard,
    )
    from clausewise.compact import Frontier
    from clausewise.export import DialectName
    from clausewise.report import ReportView, Validation
    from clausewise.rules.guarantee import Guarantee
    from clausewise.verify import Certificate, Challenge

RuleLike = Rule | str
"""A rule, or text in the rule language (one rule or several)."""
RuleSelection = int | slice | Sequence[int] | NDArray[Any]
"""Rules by number, slice, list of numbers or mask."""


class RuleSet(BaseRuleSet):
    """Rules over the columns of a table, in order, with the classes they predict and the way they vote.

    Immutable; made by `RuleSet.from_rules`, `RuleSet.from_arrays`, `RuleSet.from_text`, `RuleSetBuilder` or
    `RuleSet.load`. Rules are stored in columns; `Rule` and `Term` objects are made on demand. `rules[3]` is a
    Rule; `rules[3:7]`, `rules[mask]` and `rules[[1, 4]]` are rule sets.

    Attributes
    ----------
    features : Features
        The columns that the rules may test.
    columns : RuleColumns
        The stored rules.
    classes : ndarray of shape (n_classes,)
        The class labels; `predict` returns elements of it.
    default : str, int, float or bool
        The class of a row on which no rule fires (under `weights`: unless `base` prefers another), and the
        winner of ties.
    voting : {"confidence", "majority", "share", "weights"}
        How the rules that fire decide together.
    base : ndarray of shape (n_classes,)
        Votes that every row starts with under `voting="weights"`: the intercept of fitted weights. Zeros
        unless given; the other schemes ignore it.
    scale : float
        How many votes under `voting="weights"` make one unit of log-odds: `predict_proba` divides by it. 1
        unless given; points on a scorecard have another.
    changes : tuple of RuleChange
        Edits made by hand (`add`, `remove`, `replace`, `reweight`), oldest first. Equality ignores them, and
        what follows.
    learnt_rows : LearntRows or None
        Hashes of the rows that the rules were learnt from, which `guarantee` refuses; None if unknown.
    guaranteed : Guarantee or None
        The guarantee that the rules carry; None without one, or if they were edited since it was given.
    abstention : Abstention or None
        The margin below which the rules abstain, and the label of such rows; None if they decide every row.
    outcomes : ndarray
        What `predict` may return: `classes` and, last, the label of abstention, if there is one.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text(
    ...     '''
    ...     IF age > 50 AND income <= 2 THEN high
    ...     IF debt > 8 THEN high WITH confidence 0.9
    ...     ''',
    ...     ["age", "income", "debt"],
    ...     default="low",
    ... )
    >>> print(rules)
    2 rules for the classes high, low; voting confidence, otherwise low
    0  IF age > 50 AND income ≤ 2 THEN high   (confidence 1.00)
    1  IF debt > 8 THEN high   (confidence 0.90)
    >>> rules.predict([[60, 1.5, 0], [30, 4, 2]]).tolist()
    ['high', 'low']
    >>> print(rules.explain([{"age": 60, "income": 1.5, "debt": 9}])[0])
    row 0 → high   (voting confidence: high 1900, low 0)
      rule 0 fired, 1000 votes: IF age > 50 AND income ≤ 2 THEN high   (confidence 1.00)
      rule 1 fired,  900 votes: IF debt > 8 THEN high   (confidence 0.90)

    A method that changes something returns another rule set; the edit is logged:

    >>> edited = rules.add("IF age <= 17 THEN low", priority=True, note="no minors")
    >>> edited.predict([[16, 1.5, 9]]).tolist()
    ['low']
    >>> print(edited.changes[0])
    added rule 2 (no minors)
      + IF age <= 17 THEN low WITH priority
    """

    # --- Rows: why, what if, how good ---

    def explain(self, X: Any, *, voting: Voting | None = None, n_jobs: int | None = None) -> "Explanations":
        """Explain the decision on each row: rules that fired, their votes, and near misses.

        A near miss is a rule with exactly one failing term. Near misses are found when they are asked for,
        row by row, so that explaining many rows takes little memory.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Rows to explain; as for `predict`.
        voting : {"confidence", "majority", "share", "weights"}, optional
            Another scheme for this call.
        n_jobs : int, optional
            Number of threads; all usable cores unless given.

        Returns
        -------
        Explanations
            One Explanation per row: `rules.explain(row)[0]` for a single one.
        """
        from clausewise.analysis import explain

        return explain(self, X, voting, n_jobs)

    def explain_global(
        self, X: Any = None, target: Any = None, *, n_jobs: int | None = None
    ) -> "GlobalExplanation":
        """Summarise what the rules do as a whole, as arrays and as tables.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), optional
            Rows to count coverage and overlap on; without them, only features and lengths are counted.
        target : model or array-like of shape (n_rows,), optional
            A network or its labels of these rows, to count each rule's agreement with.
        n_jobs : int, optional
            Number of threads; all usable cores unless given.
        """
        from clausewise.analysis import explain_global

        return explain_global(self, X, target, n_jobs)

    def counterfactuals(
        self,
        X: Any,
        *,
        max_features: int = 2,
        network: Any = None,
        to: Label | None = None,
        reference: Any = None,
        fixed: Iterable[str | int] | None = None,
        increase_only: Iterable[str | int] | None = None,
        decrease_only: Iterable[str | int] | None = None,
        allowed: Mapping[str | int, Any] | None = None,
        max_queries: int = 1000,
        n_jobs: int | None = None,
    ) -> "Counterfactuals":
        """Find, for each row, the smallest change after which the rules, and the network, decide otherwise.

        For the rules alone, the search is exact for one and two features: it uses the thresholds and value
        sets of the rules. With `network`, it is for a change that both confirm: candidates that the rules
        confirm, at their thresholds and beyond, are put to the network in ascending order of distance, and
        the first ones that it confirms are made smaller again. Where none is found, the result says so and
        has the smallest change for the rules alone (`is_confirmed` is false).

        A distance is the sum of the changes, each in units of its feature: the standard deviation on
        `reference` or, without it, the range of the rules' thresholds on the feature (the magnitude of the
        threshold if there is only one). Another category, or the other value of a binary feature, counts 1.
        New values have few digits. They are whole numbers if all values in `reference` are or, without it, if
        the column has an integer type. They lie in the range of `reference`; the value of a row outside of
        it may come closer. Missing and infinite values stay as they are.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Rows to find changes for; as for `predict`.
        max_features : int, default 2
            How many features of a row may change. More than two need `reference`, and are only tried where
            two do not suffice: on the way to the nearest rows of `reference` that are decided as wanted.
        network : model, optional
            A model that must confirm the changes: on the changed row, it predicts what the rules predict.
        to : class label, optional
            The wanted decision; any other than the rules' present one unless given.
        reference : array or DataFrame of shape (n_rows, n_features), optional
            Rows, such as those of training, that show the spread and the range of each feature.
        fixed : list of str or int, optional
            Features that may not change, by name or position.
        increase_only, decrease_only : list of str or int, optional
            Numeric or binary features that may only become larger, or only smaller.
        allowed : dict, optional
            What features may become: a list of values, or for numbers a range `(low, high)`, with None where
            it is open. `{"job": ["nurse", "teacher"], "age": (18, 65)}`.
        max_queries : int, default 1000
            The largest number of changed rows that the network is asked about, for each row of `X`.
        n_jobs : int, optional
            Number of threads; all usable cores unless given. The result does not depend on it.

        Returns
        -------
        Counterfactuals
            One per row; `print` it, `to_frame()` for a table, `rows` for the changed rows.

        Examples
        --------
        >>> import numpy as np
        >>> from clausewise import Rule, RuleSet, Term
        >>> rule = Rule((Term(0, "age", low=50), Term(1, "income", high=2)), "high risk")
        >>> rules = RuleSet.from_rules([rule], ["age", "income"], default="low risk")
        >>> reference = np.array([[20.5, 1.0], [40.0, 2.5], [60.0, 4.0]])
        >>> print(rules.counterfactuals([[60.0, 1.0]], reference=reference))
        row 0: high risk becomes low risk if age 60 → 50
        >>> print(rules.counterfactuals([[60.0, 1.0]], reference=reference, fixed=["age"]))
        row 0: high risk becomes low risk if income 1 → 2.01

        A network that still says "high risk" up to an income of 3:

        >>> def network(rows):
        ...     return np.where(rows[:, 1] <= 3, "high risk", "low risk")
        >>> print(rules.counterfactuals([[60.0, 1.0]], reference=reference, network=network))
        row 0: high risk becomes low risk if income 1 → 3.02 (the network agrees)
        """
        from clausewise.analysis import counterfactuals

        return counterfactuals(
            self,
            self.features.table(X),
            max_features,
            network,
            to,
            reference,
            fixed=fixed,
            increase_only=increase_only,
            decrease_only=decrease_only,
            allowed=allowed,
            max_queries=max_queries,
            n_jobs=n_jobs,
        )

    def evaluate(
        self,
        X: Any,
        target: ArrayLike | None = None,
        *,
        network: Any = None,
        voting: Voting | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> "Evaluation":
        """Measure the rules on these rows against the true classes, the network, or both.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Rows to measure on, as for `predict`; best those that nothing was learnt from.
        target : array-like of shape (n_rows,), optional
            True classes. Classes that the rules do not know count as wrong. For rows that need not fit into
            memory, the name of the column that holds them.
        network : model or array-like of shape (n_rows,), optional
            The network, or its labels of these rows, to measure fidelity to. For rows that need not fit into
            memory, a model, or the name of a column.
        voting : {"confidence", "majority", "share", "weights"}, optional
            Another scheme for this call.
        n_jobs : int, optional
            Number of threads; all usable cores unless given.
        verbose : int, default 0
            1 shows progress on rows that are read in parts.

        Returns
        -------
        Evaluation
            With fidelity, its interval, its baseline and its value per class; accuracy, coverage and reading
            cost; and `warnings`. `print` it.
        """
        from clausewise.analysis import evaluate

        return evaluate(self, X, target, network, voting, n_jobs, verbose)

    def guarantee(
        self,
        X: Any,
        network: Any,
        confidence: float = 0.95,
        *,
        overlap: Literal["refuse", "drop", "keep"] = "refuse",
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> "Guarantee":
        """Bound, on fresh rows, how often the rules decide as the network does, and how precise each rule is.

        The intervals are exact (Clopper–Pearson) and hold all at once (Bonferroni), with the given
        confidence. They are about rows of the kind that `X` is drawn from: `X` must be an independent sample
        of these, and nothing may have been learnt from it, neither the rules nor, best, the network.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Fresh rows, as for `predict`.
        network : model or array-like of shape (n_rows,)
            The network, or its labels of these rows.
        confidence : float, default 0.95
            The probability with which all intervals hold.
        overlap : {"refuse", "drop", "keep"}, default "refuse"
            What to do with rows that the rules were learnt from: raise an error that says how many, or leave
            them out. "keep" counts them, for tables in which independent rows are often equal.
        groups : array-like of shape (n_rows,), optional
            What each row belongs to, such as a customer. Rows of one group are not independent, so one of
            each group is drawn and counted.
        sample_weight : None
            Weighted rows are refused: exact bounds are about counts.
        random_state : int or RandomState, optional
            Draws the rows of groups; 0 unless given.
        n_jobs : int, optional
            Number of threads; all usable cores unless given.

        Returns
        -------
        Guarantee
            `print` it; `to_frame()` for a table. `with_guarantee` attaches it to the rules, so that files,
            reports and exports show it.

        Examples
        --------
        >>> import numpy as np
        >>> from clausewise import Rule, RuleSet, Term
        >>> rule = Rule((Term(0, "age", low=50),), "high risk")
        >>> rules = RuleSet.from_rules([rule], ["age"], default="low risk")
        >>> fresh = np.random.default_rng(0).uniform(20, 80, (1000, 1))
        >>> def network(rows):
        ...     return np.where(rows[:, 0] > 51, "high risk", "low risk")
        >>> found = rules.remember_rows([[20.0], [60.0]]).guarantee(fresh, network)
        >>> print(found.summary)
        on 1,000 fresh rows: 97.4–99.4 % agreement with the network (95 % confidence)
        """
        from clausewise.analysis import guarantee

        return guarantee(
            self,
            X,
            network,
            confidence,
            overlap=overlap,
            groups=groups,
            sample_weight=sample_weight,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def abstaining(
        self,
        X: Any,
        network: Any,
        agreement: float = 0.98,
        confidence: float = 0.9,
        *,
        label: Label | None = None,
        overlap: Literal["refuse", "drop", "keep"] = "refuse",
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> "RuleSet":
        """Return rules that decide only where they agree with the network as often as promised.

        A row is decided if the score of its class leads the next one by a margin; on all other rows, the
        rules abstain. The margin is the smallest one of a few for which exact binomial tests on fresh rows
        show the agreement (with Holm's correction; a tenth of the rows suggests the margins, and only the
        others test them). With probability `confidence`, at least the fraction `agreement` of the rows that
        the rules decide is decided as the network does, among rows drawn like those of `X`.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Fresh rows, as for `guarantee`.
        network : model or array-like of shape (n_rows,)
            The network, or its labels of these rows.
        agreement : float, default 0.98
            The fraction of decided rows on which rules and network must agree.
        confidence : float, default 0.9
            The probability with which this holds.
        label : class label, optional
            What `predict` returns where the rules abstain, of the type of the classes; "abstains", or −1 for
            numbers, unless given.
        overlap, groups, sample_weight, random_state, n_jobs
            As for `guarantee`.

        Returns
        -------
        RuleSet
            The same rules, with `abstention`. `promised` says what fraction of rows they decide. Exports to
            SQL and Python, rule files and the report abstain alike.

        Examples
        --------
        >>> import numpy as np
        >>> from clausewise import RuleSet
        >>> text = "IF age > 50 THEN high WITH weight 1\\nIF age > 60 THEN high WITH weight 2"
        >>> rules = RuleSet.from_text(text, ["age"], default="low", voting="weights", classes=["low", "high"])
        >>> rules = rules.with_weights([1, 2], base=[2, 0])
        >>> fresh = np.random.default_rng(0).uniform(20, 80, (2000, 1))
        >>> def network(rows):
        ...     return np.where(rows[:, 0] > 55, "high", "low")
        >>> careful = rules.abstaining(fresh, network)
        >>> careful.predict([[30.0], [55.0], [70.0]])
        array(['low', 'abstains', 'abstains'], dtype='<U8')
        """
        from clausewise.analysis import abstaining

        return abstaining(
            self,
            X,
            network,
            agreement,
            confidence,
            label=label,
            overlap=overlap,
            groups=groups,
            sample_weight=sample_weight,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def scorecard(self) -> "Scorecard":
        """Return the rules as points to add up, a line per premise, if they vote by weights; `print` it."""
        from clausewise.analysis import scorecard

        return scorecard(self)

    def compare(self, other: "RuleSet", X: Any = None) -> "Comparison":
        """Compare with a later rule set: rules added, removed and changed, and rows whose decision flips.

        Parameters
        ----------
        other : RuleSet
            The later rules; features are matched by name.
        X : array or DataFrame of shape (n_rows, n_features), optional
            Rows that both decide; a DataFrame may hold the columns of either.
        """
        from clausewise.analysis import compare

        return compare(self, other, X)

    # --- What a network does wherever rules fire ---

    def challenge(
        self,
        network: Any,
        X: Any,
        *,
        near: float = 95.0,
        fixed: Iterable[str | int] | None = None,
        max_queries: int = 20_000,
        max_seconds: float = 60.0,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> "Challenge":
        """Try to break each rule and each decision, with inputs near real rows that the network contradicts.

        Real rows on which all agree are moved until the network contradicts while the rule still fires, or
        the rules still decide so: along its gradient if it is a feed-forward network (see `certify`), and for
        any model towards rows that it decides otherwise and to other values of single columns. That such an
        input exists says little, since one nearly always does somewhere; how near it is to real rows says
        more.

        Inputs stay in the range of `X`, whole numbers and categories stay valid, and one-hot blocks keep a
        single 1. Distances are in standard deviations of the columns; another category counts √2.

        Parameters
        ----------
        network : model
            The model (anything that `clausewise.wrap` takes).
        X : array or DataFrame of shape (n_rows, n_features)
            Real rows.
        near : float, default 95
            Inputs count as near up to this percentile: as near to a real row as this percentage of real rows
            are to their nearest other real row.
        fixed : list of str or int, optional
            Columns that inputs may not change, by name or position.
        max_queries : int, default 20000
            How many inputs to evaluate for each rule and decision.
        max_seconds : float, default 60
            A limit on the time. If it is reached, the result says so, and depends on the speed of the
            machine.
        random_state : int, RandomState or None
            Draws the rows to start from. None stands for 0.
        verbose : int, default 0
            1 shows progress.

        Returns
        -------
        Challenge
            One Attack per rule and per class; `worst()` for the inputs nearest to real rows. `print` it.

        Examples
        --------
        >>> import numpy as np
        >>> from clausewise import RuleSet
        >>> rules = RuleSet.from_text("IF x0 > 0.5 THEN 1", ["x0"], classes=[0, 1], default=0)
        >>> X = np.linspace(0, 1, 41)[:, None]
        >>> def network(rows):
        ...     return (rows[:, 0] > 0.52).astype(int)
        >>> found = rules.challenge(network, X)
        >>> found[0].n_contradicted, found[0].n_found, round(found[0].radius, 3)
        (0, 20, 0.017)
        """
        from clausewise.verify import challenge

        return challenge(
            self,
            network,
            X,
            near=near,
            fixed=fixed,
            max_queries=max_queries,
            max_seconds=max_seconds,
            random_state=random_state,
            verbose=verbose,
        )

    def certify(
        self,
        network: Any,
        domain: Any,
        *,
        max_boxes: int = 20_000,
        seconds: float = 60.0,
        max_parts: int = 12,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> "Certificate":
        """Prove where a network always decides as the rules say, or find rows on which it does not.

        For feed-forward networks (dense layers, batch normalisation, residual sums; relu, leaky relu, elu,
        softplus, tanh, sigmoid) of PyTorch, Keras, ONNX, scikit-learn or arrays, with scalers and one-hot
        encoders before them. Useful up to six to ten columns: beyond, a warning says at once that little of a
        rule can be proven. Bounds follow from linear relaxation, and a rule is cut into boxes until each is
        decided. They include the rounding errors of the network's own forward pass, in single or double
        precision. What was read of the network is compared with its answers, and refused if they differ.

        Proofs are about the domain: numbers in the range of each column, whole numbers where a column has
        only these, categories that occur, and one-hot blocks with a single 1. They say what the network
        predicts on every such row, not whether that is right.

        Parameters
        ----------
        network : model
            The network (anything that `clausewise.wrap` takes and that has the layers above).
        domain : array or DataFrame of shape (n_rows, n_features)
            Rows, such as those of training, that show the range of each column.
        max_boxes : int, default 20000
            How many boxes to examine for each rule: half of them to prove or refute all of it, the others to
            find certified parts. Some 10,000 boxes take a second for a network of 100 units.
        seconds : float, default 60
            A limit on the time for all rules together. If it is reached, the result says so, and depends on
            the speed of the machine. Of more than 20,000 rows in `domain`, or of a slow network, the network
            is asked about a random sample, on which rows are counted; proofs are about the whole domain.
        max_parts : int, default 12
            How many certified boxes to look for inside a rule that is not proven as a whole.
        random_state : int, RandomState or None
            Draws rows from which certified parts grow, and the sample of many rows. None stands for 0.
        verbose : int, default 0
            1 shows progress.

        Returns
        -------
        Certificate
            With a status, the proven shares of volume and rows, and a counterexample for each rule;
            `shrunk()` for the certified rules, `around(X)` for proven boxes around rows. `print` it.

        Examples
        --------
        >>> import numpy as np
        >>> from clausewise import RuleSet
        >>> from clausewise.networks import ArrayNetwork
        >>> network = ArrayNetwork([[[1.0], [1.0]]], [[-1.0]], output="sigmoid")  # 1 where x0 + x1 > 1
        >>> text = "IF x0 > 0.7 AND x1 > 0.5 THEN 1\\nIF x0 > 0.8 THEN 1"
        >>> rules = RuleSet.from_text(text, ["x0", "x1"], classes=[0, 1], default=0)
        >>> domain = np.random.RandomState(0).uniform(size=(200, 2))
        >>> certificate = rules.certify(network, domain, max_boxes=500)
        >>> print(certificate[0])
        rule 0 (1): proven, 100.0 % of its volume and 100.0 % of its rows proven
        >>> certificate[1].status, certificate[1].network_label
        ('refuted', 0)
        """
        from clausewise.verify import certify

        return certify(
            self,
            network,
            domain,
            max_boxes=max_boxes,
            seconds=seconds,
            max_parts=max_parts,
            random_state=random_state,
            verbose=verbose,
        )

    # --- Fewer rules ---

    def simplify(
        self, *, tolerance: float = 0.0, X: Any = None, target: Any = None, n_jobs: int | None = None
    ) -> "RuleSet":
        """Return fewer rules that decide alike on every possible row, or nearly alike on given rows.

        Without a tolerance no prediction changes on any possible row, including rows with missing values and
        unknown categories: rules that never fire, have no votes or never decide are dropped, equal and
        neighbouring rules are merged, as far as that is exact for the rule set's voting. `predict_proba` and
        the results of other voting schemes may change, and more rows may be uncovered.

        Parameters
        ----------
        tolerance : float, default 0
            The fraction of rows of `X` on which agreement with `target` may be lost. Terms and rules are then
            dropped one by one, cheapest first.
        X : array or DataFrame of shape (n_rows, n_features), optional
            Rows to measure on; required with a tolerance.
        target : model or array-like of shape (n_rows,), optional
            What the rules should predict: a network, its labels, or true classes; the rules' present
            decisions unless given.
        n_jobs : int, optional
            Number of threads; all usable cores unless given.

        Returns
        -------
        RuleSet
            With the same voting. A rule that lost a term keeps its votes, and its cover and correct are
            counted on `X` and `target`.
        """
        from clausewise.analysis import simplify

        return simplify(self, tolerance, X, target, n_jobs)

    def compact(
        self,
        X: Any,
        target: Any,
        *,
        max_rules: int | None = None,
        max_conditions: int | None = None,
        max_terms: int = 6,
        min_fidelity: float | None = None,
        price: float | None = None,
        points: bool = False,
        balance: Literal["balanced"] | None = None,
        shared_premises: bool = False,
        penalty: float | Literal["cv"] | None = None,
        synthetic: float | Literal["auto"] = "auto",
        sample_weight: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> "RuleSet":
        """Search for the most faithful rule set that is short to read, with fitted weights.

        Premises are searched directly on the rows of `X`, driven by what the rules found so far get wrong.
        The rules of this set are among the starting points; a rule that grew out of one keeps its origin, all
        others have the origin "residual". Every bound, category and rule has a price and stays only if it
        lowers the loss by more than that. All weights are refitted after every step, and weak rules are
        exchanged at the end. With a model as the target, rows near those of `X` help to find rules that hold
        beyond them.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
            Rows to learn from. Rows that need not fit into memory are taken, too; see
            `clausewise.partitioned`.
        target : model, or array-like of shape (n_rows,) or (n_rows, n_classes)
            What the rules should predict: a network, its labels, or its probabilities; for rows that need not
            fit into memory, a network, or the name of the column that holds the labels. With probabilities
            (or a network) the rules' own probabilities are calibrated to them; the decisions do not change.
        max_rules : int, optional
            The most rules. Fewer are returned if more are not worth reading. Without `max_rules`,
            `max_conditions` and `min_fidelity`, the size is chosen on held-out rows: the least to read whose
            fidelity is within a quarter of a point of the best, at most 20 rules and 60 conditions for two
            classes, and in proportion for more.
        max_conditions : int, optional
            The most to read in the whole rule set, counted by `reading_cost`: one per rule, one per bound and
            one per category named or excluded.
        max_terms : int, default 6
            The most terms in a rule; a term with two bounds counts once.
        min_fidelity : float, optional
            Return the rule set with the least to read, up to `max_rules` (64 unless given) and
            `max_conditions` (four per rule unless given), that reaches this fidelity on held-out rows; see
            `frontier`. If none does, the most faithful one, with a CompactionWarning.
        price : float, optional
            By how much each unit of reading cost must lower the loss, in units of √rows / 40. By default 1,
            and less for more than 16 rules (for two classes), since someone who asks for many is willing to
            read; 0.1 under `max_conditions` or `min_fidelity`, so that the budget is used. 0 asks for the
            longest rules.
        points : bool, default False
            Use whole weights between −5 and 5; see `scorecard`.
        balance : {None, "balanced"}
            "balanced" gives all classes the same total weight, however frequent they are.
        shared_premises : bool, default False
            With more than two classes: each premise has a weight for every class, and `max_rules` counts
            premises. Stored as several rules with the same premise.
        penalty : float or "cv", optional
            Strength of the penalty on squared weights; by default a hundredth of the number of rows, at least
            2 and at most 16, and less with more than two classes. "cv" also tries a quarter and four times
            that on held-out rows, at about eight times the cost, and uses one of them only if it is clearly
            better.
        synthetic : "auto" or float, default "auto"
            If the target is a model: how many rows to generate near each row, labelled by the model, and to
            learn from as well. "auto" generates up to 20 per row and 16,000 in all, but none for a plain
            function, whose calls may be expensive, and none with more than 200 columns. Cover, confidence and
            other figures are counted on `X`.
        sample_weight : array-like of shape (n_rows,), optional
            Relative weight of each row; rows with weight 0 are ignored.
        random_state : int, RandomState or None
            Draws the generated rows, and the held-out ones where a budget or a penalty has to be chosen. None
            stands for 0.
        n_jobs : int, optional
            Number of threads; all usable cores unless given. The result does not depend on it.
        verbose : int, default 0
            1 shows progress.

        Returns
        -------
        RuleSet
            With `voting="weights"`; cover, correct and confidence are counted on `X` and `target`.
        """
        from clausewise.compact import compact

        return compact(
            self,
            X,
            target,
            max_rules=max_rules,
            max_conditions=max_conditions,
            max_terms=max_terms,
            min_fidelity=min_fidelity,
            price=price,
            points=points,
            balance=balance,
            shared_premises=shared_premises,
            penalty=penalty,
            synthetic=synthetic,
            sample_weight=sample_weight,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def frontier(
        self,
        X: Any,
        target: Any,
        *,
        by: Literal["rules", "conditions"] = "rules",
        max_rules: int = 64,
        max_conditions: int = 128,
        max_terms: int = 6,
        price: float | None = None,
        points: bool = False,
        balance: Literal["balanced"] | None = None,
        shared_premises: bool = False,
        penalty: float | Literal["cv"] | None = None,
        synthetic: float | Literal["auto"] = "auto",
        sample_weight: ArrayLike | None = None,
        n_splits: int = 3,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> "Frontier":
        """Measure fidelity on held-out rows for rule sets of every size up to a limit.

        Each split holds out a fifth of the rows and searches rule sets of all sizes on the others. `compact`
        with one of these budgets then learns from all rows.

        Parameters
        ----------
        X, target
            As for `compact`.
        by : {"rules", "conditions"}, default "rules"
            What a size is: every number of rules up to `max_rules`, or about three reading costs per doubling
            up to `max_conditions`.
        max_rules, max_conditions : int, default 64 and 128
            The largest budget. By conditions, `max_rules` limits the number of rules too.
        n_splits : int, default 3
            Number of random splits.
        random_state : int, RandomState or None
            Draws the held-out rows. None stands for 0.
        max_terms, price, points, balance, shared_premises, penalty, synthetic, sample_weight, n_jobs, verbose
            As for `compact`. With `balance`, fidelity is the mean over the classes.

        Returns
        -------
        Frontier
            With `budgets`, `fidelity`, `spread`, `n_rules`, `reading_cost`, the recommended `knee`, and
            `plot()`.
        """
        from clausewise.compact import frontier

        return frontier(
            self,
            X,
            target,
            by=by,
            max_rules=max_rules,
            max_conditions=max_conditions,
            max_terms=max_terms,
            price=price,
            points=points,
            balance=balance,
            shared_premises=shared_premises,
            penalty=penalty,
            synthetic=synthetic,
            sample_weight=sample_weight,
            n_splits=n_splits,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def fit_votes(
        self,
        X: Any,
        target: Any,
        *,
        per_class: bool = False,
        allow_negative: bool = False,
        penalty: float | None = None,
        sample_weight: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> "RuleSet":
        """Fit the weight of every rule, so that all of them together predict a target best.

        All rules stay as they are. Their weights are those of a logistic regression (a softmax for more than
        two classes) whose inputs are which rules fire, with a ridge penalty; they are multiples of 1/256, so
        that sums are exact in every export. If confidences decide more of the held-out rows rightly, the
        rules keep them, with a CompactionWarning.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
            Rows to learn from.
        target : model, or array-like of shape (n_rows,) or (n_rows, n_classes)
            What the rules should predict: a network, its labels, or its probabilities. With probabilities (or
            a network) the rules' own probabilities are calibrated to them.
        per_class : bool, default False
            Give each premise a weight for every class. With many classes that is far more faithful, and far
            more to read: a premise is stored as several rules.
        allow_negative : bool, default False
            Let rules speak against their class, by weights below 0.
        penalty : float, optional
            Strength of the penalty on squared weights; chosen by the loss on held-out rows unless given.
        sample_weight : array-like of shape (n_rows,), optional
            Relative weight of each row; rows with weight 0 are ignored.
        random_state : int, RandomState or None
            Draws the held-out rows, a fifth. None stands for 0.
        n_jobs : int, optional
            Number of threads; all usable cores unless given. The result does not depend on it.

        Returns
        -------
        RuleSet
            With `voting="weights"` and base votes.
        """
        from clausewise.compact import fit_votes

        return fit_votes(
            self,
            X,
            target,
            per_class=per_class,
            allow_negative=allow_negative,
            penalty=penalty,
            sample_weight=sample_weight,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    # --- Edits ---

    @staticmethod
    def from_text(
        text: str,
        features: Features | Sequence[str] | None = None,
        *,
        classes: ArrayLike | None = None,
        default: Label | None = None,
        voting: Voting | None = None,
    ) -> "RuleSet":
        """Read a rule set written in the rule language, such as `to_text` returns.

        Parameters
        ----------
        text : str
            The rules, with or without a header.
        features : Features or sequence of str, optional
            The features that rules may test, unless the text declares them (FEATURE); names alone are
            numeric.
        classes : array-like, optional
            The labels, unless the text declares them (CLASSES); without both, the rules' conclusions.
        default : class label, optional
            The class where no rule fires, unless the text declares it (DEFAULT).
        voting : {"confidence", "majority", "share", "weights"}, optional
            How the rules vote, unless the text declares it (VOTING); "confidence" if neither does.

        Raises
        ------
        RuleTextError
            With the line and column of the mistake.
        """
        from clausewise.rules.text import read_ruleset, vocabulary_from

        return read_ruleset(text, vocabulary_from(features, classes, default, voting))

    def to_text(self, *, header: bool = True) -> str:
        """Return the rules in the rule language, one per line; `from_text` reads an equal rule set back.

        Parameters
        ----------
        header : bool, default True
            Whether to write features, classes, default class and voting before the rules; without them,
            `from_text` needs them as arguments.
        """
        from clausewise.rules.text import write_rules, write_ruleset

        return write_ruleset(self) if header else "".join(f"{rule}\n" for rule in write_rules(self))

    def add(
        self,
        rules: RuleLike | Iterable[RuleLike],
        *,
        priority: bool | None = None,
        at: int | None = None,
        note: str | None = None,
        author: str | None = None,
    ) -> "RuleSet":
        """Return a rule set with more rules, appended or inserted at a position.

        Parameters
        ----------
        rules : Rule, str or iterable of them
            Rules, or text in the rule language: `'IF age <= 17 THEN no'`.
        priority : bool, optional
            Whether they override rules without priority; each rule's own setting unless given.
        at : int, optional
            Number of the first new rule.
        note, author : str, optional
            The reason, and who made the edit, for the log.
        """
        from clausewise.rules import editing

        properties = {} if priority is None else {"priority": priority}
        return editing.add(self, rules, at, note, author, **properties)

    def remove(
        self, which: RuleSelection, *, note: str | None = None, author: str | None = None
    ) -> "RuleSet":
        """Return a rule set without some rules, given by number, slice, list of numbers or mask."""
        from clausewise.rules import editing

        return editing.remove(self, which, note, author)

    def replace(
        self, number: int, rule: RuleLike, *, note: str | None = None, author: str | None = None
    ) -> "RuleSet":
        """Return a rule set with one rule replaced; nothing of the old rule is kept."""
        from clausewise.rules import editing

        return editing.replace_rule(self, number, rule, note, author)

    def reweight(
        self,
        which: RuleSelection,
        *,
        weight: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
        priority: bool | None = None,
        note: str | None = None,
        author: str | None = None,
    ) -> "RuleSet":
        """Return a rule set in which some rules have another weight, confidence or priority.

        Parameters
        ----------
        which : int, slice, sequence of int or mask
            The rules.
        weight : float or array-like, optional
            Votes under `voting="weights"`, one for all of them or one each.
        confidence : float or array-like, optional
            Between 0 and 1; determines the votes under `voting="confidence"`.
        priority : bool, optional
            Whether they override rules without priority.
        note, author : str, optional
            The reason, and who made the edit, for the log.
        """
        from clausewise.rules import editing

        return editing.reweight(self, which, weight, confidence, priority, note, author)

    # --- Files ---

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rules to a JSON file; an interrupted save leaves the old file as it was."""
        from clausewise.io import json

        json.save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> "RuleSet":
        """Read a file written by `save`; raise a RuleFileError for anything else. Nothing is executed."""
        from clausewise.io import json

        return json.load(path, **({} if max_bytes is None else {"max_bytes": max_bytes}))

    # --- Exports, all of which decide exactly as `predict` does ---

    def to_sql(
        self, table: str | Sequence[str], dialect: "DialectName" = "sqlite", *, decision: str = "decision"
    ) -> str:
        """Return a query that scores a table: its columns, the votes and, last, the decision.

        The table needs a column for each feature that the rules test, by name. NULL and NaN are missing.
        Names of further columns must not begin with `clausewise_`, which the votes' columns do.

        Parameters
        ----------
        table : str or sequence of str
            Name of the table, or its parts, such as `("schema", "table")`.
        dialect : {"sqlite", "postgresql", "duckdb", "bigquery"}
            The database to write for.
        decision : str
            Name of the last column.

        Returns
        -------
        str
            A SELECT without a semicolon.
        """
        from clausewise.export import to_sql

        return to_sql(self, table, dialect, decision)

    def to_python(self) -> str:
        """Return a Python module with `predict(row)` and `predict_many(rows)` that imports nothing.

        A row is a mapping from names to values, or a sequence of values; None and NaN are missing.
        """
        from clausewise.export import to_python

        return to_python(self)

    def to_pmml(self) -> str:
        """Return the rules as a PMML 4.4 document with a RuleSetModel.

        Rules with priority become a separate model in front of the other. Votes are written as whole numbers
        if these stay small; otherwise the totals are computed in derived fields with a fixed order of
        additions. Engines must receive missing values as missing, not as NaN.
        """
        from clausewise.export import to_pmml

        return to_pmml(self)

    def to_onnx(self) -> Any:
        """Return the rules as an ONNX model with the outputs `label` and `scores`.

        If all features are numeric or binary, the model has one input `X`: doubles of shape (rows, features),
        NaN where missing. Otherwise it has one input of shape (rows, 1) per feature, by name: strings for
        text categories, doubles for all others. The empty string stands for a missing value, unless it is a
        category.

        Returns
        -------
        onnx.ModelProto
            `.SerializeToString()` gives the bytes of a file. Evaluating it takes about 10 bytes per rule and
            row for as many rows as are passed at once.
        """
        from clausewise.export import to_onnx

        return to_onnx(self)

    def to_markdown(self) -> str:
        """Return the rules as a Markdown table, with a line on classes and voting."""
        from clausewise.export import to_markdown

        return to_markdown(self)

    def to_latex(self, *, longtable: bool = False) -> str:
        r"""Return the rules as a LaTeX table in the style of booktabs.

        Parameters
        ----------
        longtable : bool, default False
            Write a `longtable`, which continues on the next page, instead of a `tabular`.

        Returns
        -------
        str
            Needs `\usepackage{booktabs}`, and `\usepackage{longtable}` for a long one.
        """
        from clausewise.export import to_latex

        return to_latex(self, longtable)

    def to_graphviz(self) -> str:
        """Return the rules as a tree in Graphviz's DOT language, in which rules share common first terms.

        Draw it with `dot -Tsvg`, or in a notebook with the graphviz package.
        """
        from clausewise.export import to_graphviz

        return to_graphviz(self)

    # --- Reports ---

    def validate(
        self,
        X: Any,
        network: Any,
        *,
        confidence: float = 0.95,
        agreement: float | None = None,
        overlap: Literal["refuse", "drop", "keep"] = "refuse",
        groups: ArrayLike | None = None,
        dates: ArrayLike | str | None = None,
        title: str | None = None,
        model_name: str | None = None,
        sources: Mapping[str, str] | None = None,
        results: Mapping[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> "Validation":
        """Collect what a model-risk team files about these rules: `save` writes it as a page to print.

        What the model is, which rows, the guarantee, abstention if asked for, where rules and model differ,
        edits and who made them, and versions. The page is one file without scripts.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features), or rows by name
            Fresh rows, as for `guarantee`.
        network : model or array-like of shape (n_rows,)
            The network, or its labels of these rows.
        confidence : float, default 0.95
            As for `guarantee`.
        agreement : float, optional
            Also say where the rules would have to abstain for this agreement (`abstaining`).
        overlap, groups, random_state, n_jobs
            As for `guarantee`.
        dates : array-like of shape (n_rows,) or str, optional
            The date of each row, or the column of `X` that has it; by default, its only column of dates.
        title, model_name : str, optional
            Heading of the page, and a name for the model.
        sources : mapping of str to str, optional
            Where things come from, such as `{"model file": "credit-2026.onnx"}`.
        results : mapping of str to object, optional
            Further results by heading; shown by their `to_html()`, or as text.

        Returns
        -------
        Validation
            `print` it, `save` it, or show it in a notebook.
        """
        from clausewise.report import validate

        return validate(
            self,
            X,
            network,
            confidence=confidence,
            agreement=agreement,
            overlap=overlap,
            groups=groups,
            dates=dates,
            title=title,
            model_name=model_name,
            sources=sources,
            results=results,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        network: Any = None,
        *,
        title: str | None = None,
        max_rows: int | float | None = 2_000,
        random_state: int = 0,
        frontier: "Frontier | None" = None,
        compare: Mapping[str, "RuleSet"] | None = None,
        labels: Mapping[Any, Any] | None = None,
        colors: Mapping[Any, str] | Sequence[str] | None = None,
        fixed: Iterable[str | int] | None = None,
    ) -> None:
        """Write one HTML file that shows the rules in any browser, from disk or by mail.

        Opening it loads nothing from anywhere. An interrupted call leaves the old file as it was; the same
        arguments give the same file.

        Parameters
        ----------
        path : path-like
            The file to write.
        X : array or DataFrame of shape (n_rows, n_features), optional
            Rows to show the rules on. Measures and histograms are computed on all of them; a sample is
            embedded in the file, to inspect decisions and try edits in the browser. Whoever has the file can
            read these rows.
        y : array-like of shape (n_rows,), optional
            Their true classes.
        network : model or array-like of shape (n_rows,), optional
            A network (anything that `clausewise.wrap` takes) to compare the rules with, or its labels. If
            the rules were learnt from none of these rows, the page shows the guarantee that these rows give,
            else the one that the rules carry, if any, as counted earlier.
        title : str, optional
            The page's heading.
        max_rows : int, float or None, default 2000
            Number (or fraction) of the rows to embed, drawn in proportion to the classes; None for all.
        random_state : int, default 0
            Draws them.
        frontier : Frontier, optional
            A result of `frontier`, shown as a curve.
        compare : mapping of str to RuleSet, optional
            Other rule sets by title, such as last year's, to compare these with in the browser.
        labels : mapping, optional
            Names to show instead of those in the data, by column, category or class, such as
            `{"A11": "below 0 DM"}`. For categories of one column only, `{"status": {"A11": "below 0 DM"}}`.
            Rule files and exports keep the names in the data.
        colors : mapping or list of str, optional
            Colours of classes, such as `{"bad": "#b00020"}`, or one per class.
        fixed : list of str or int, optional
            Features that the smallest change of a row does not touch, such as `["age", "sex"]`; readers can
            lock others and unlock these.
        """
        self.show(
            X,
            y,
            network,
            title=title,
            max_rows=max_rows,
            random_state=random_state,
            frontier=frontier,
            compare=compare,
            labels=labels,
            colors=colors,
            fixed=fixed,
        ).save(path)

    def show(
        self,
        X: Any = None,
        y: Any = None,
        network: Any = None,
        *,
        title: str | None = None,
        max_rows: int | float | None = 2_000,
        random_state: int = 0,
        frontier: "Frontier | None" = None,
        compare: Mapping[str, "RuleSet"] | None = None,
        labels: Mapping[Any, Any] | None = None,
        colors: Mapping[Any, str] | Sequence[str] | None = None,
        fixed: Iterable[str | int] | None = None,
        height: int = 720,
    ) -> "ReportView":
        """Return the report as an object that a notebook shows in an isolated frame.

        Parameters
        ----------
        X, y, network, title, max_rows, random_state, frontier, compare, labels, colors, fixed
            As for `report`.
        height : int, default 720
            Height of the frame in pixels.
        """
        from clausewise.report import show

        return show(
            self,
            X,
            y,
            network,
            title=title,
            max_rows=max_rows,
            random_state=random_state,
            frontier=frontier,
            compare=compare,
            labels=labels,
            colors=colors,
            fixed=fixed,
            height=height,
        )

    def explore(
        self,
        X: Any = None,
        y: Any = None,
        network: Any = None,
        *,
        title: str | None = None,
        port: int = 0,
        open_browser: bool = True,
        max_rows: int | float | None = 20_000,
        random_state: int = 0,
        frontier: "Frontier | None" = None,
        labels: Mapping[Any, Any] | None = None,
        colors: Mapping[Any, str] | Sequence[str] | None = None,
        fixed: Iterable[str | int] | None = None,
    ) -> None:
        """Show the report in a browser, backed by all rows and the network itself, until Ctrl-C.

        The page is served to this machine only, under an address with a random part that is printed. There,
        the network answers for rows that are typed in, and edited rules are measured on all rows of `X`.
        `clausewise.report.Explorer` does the same without blocking, for notebooks.

        Parameters
        ----------
        X, y, network, title, random_state, frontier, labels, colors, fixed
            As for `report`.
        port : int, default 0
            The server's port; 0 for any free port.
        open_browser : bool, default True
            Whether to open the page in the browser.
        max_rows : int, float or None, default 20000
            Number (or fraction) of the rows to embed in the page; None for all.
        """
        from clausewise.report import explore

        explore(
            self,
            X,
            y,
            network,
            title=title,
            port=port,
            open_browser=open_browser,
            max_rows=max_rows,
            random_state=random_state,
            frontier=frontier,
            labels=labels,
            colors=colors,
            fixed=fixed,
        )

"""The block solver finds the same minimum as the public one-label-at-a-time solvers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from labelwise.kernels.dual_descent import one_vs_rest


def problem(documents: int = 300, columns: int = 80, labels: int = 37) -> tuple[sp.csr_matrix, ...]:
    """Random documents whose labels depend on their words; more labels than one block holds."""
    random = np.random.default_rng(7)
    X = sp.random(documents, columns, density=0.15, random_state=3, format="csr")
    X.data = X.data.astype(np.float32)
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).ravel()
    X = sp.csr_matrix(sp.diags(1 / np.maximum(norms, 1e-9)) @ X, dtype=np.float32)
    wanted = X @ random.normal(size=(columns, labels))
    Y = sp.csr_matrix(wanted > np.quantile(wanted, 0.85, axis=0), dtype=np.int8)
    return X, Y


def solve(X: sp.csr_matrix, Y: sp.csr_matrix, **options: object) -> tuple[np.ndarray, np.ndarray]:
    W = np.zeros((X.shape[1], Y.shape[1]), dtype=np.float32)
    b = np.zeros(Y.shape[1], dtype=np.float32)
    settings = {"C": 1.0, "passes": 400, "tolerance": 1e-6} | options
    for labels, weights, biases in one_vs_rest(X, Y, **settings):  # type: ignore[arg-type]
        W[:, labels], b[labels] = weights, biases
    return W, b


@pytest.mark.parametrize("C", [0.3, 1.0, 5.0])
def test_squared_hinge_agrees_with_liblinear(C: float) -> None:
    X, Y = problem()
    W, b = solve(X, Y, loss="squared-hinge", C=C)
    for label in (0, 5, 36):
        # the same problem: squared hinge, and a bias that is penalised like any other weight
        svc = LinearSVC(C=C, tol=1e-8, max_iter=100_000, intercept_scaling=1.0)
        svc.fit(X, Y[:, [label]].toarray().ravel())
        np.testing.assert_allclose(W[:, label], svc.coef_[0], atol=2e-3)
        assert b[label] == pytest.approx(svc.intercept_[0], abs=2e-3)


@pytest.mark.parametrize("C", [0.5, 10.0])
def test_logistic_weights_are_where_the_gradient_vanishes(C: float) -> None:
    X, Y = problem()
    W, b = (part.astype(np.float64) for part in solve(X, Y, loss="logistic", C=C))
    y = np.where(Y.toarray() > 0, 1.0, -1.0)
    share = np.asarray(Y.mean(axis=0)).ravel()
    prior = np.log(share / (1 - share))
    slope = -C * y / (1 + np.exp(y * (X @ W + b)))  # documents × labels
    assert np.abs(W + X.T @ slope).max() < 5e-3
    assert np.abs(b - prior + slope.sum(axis=0)).max() < 5e-3


def test_threads_and_block_mates_do_not_change_the_result() -> None:
    X, Y = problem()
    W, b = solve(X, Y, loss="squared-hinge", passes=5, jobs=1)
    V, c = solve(X, Y, loss="squared-hinge", passes=5, jobs=3)
    np.testing.assert_array_equal(W, V)
    np.testing.assert_array_equal(b, c)


def test_another_seed_visits_documents_in_another_order_and_ends_at_the_same_minimum() -> None:
    X, Y = problem()
    W, _ = solve(X, Y, loss="squared-hinge", seed=0)
    V, _ = solve(X, Y, loss="squared-hinge", seed=1)
    assert not np.array_equal(W, V)
    np.testing.assert_allclose(W, V, atol=1e-3)


def test_a_document_without_words_and_a_label_with_one_document_are_fine() -> None:
    X, Y = problem()
    X = sp.vstack([X, sp.csr_matrix((1, X.shape[1]))], format="csr", dtype=np.float32)
    last = sp.csr_matrix(([1], ([0], [0])), shape=(1, Y.shape[1]), dtype=np.int8)
    Y = sp.vstack([Y, last], format="csr")
    for loss in ("squared-hinge", "logistic"):
        W, b = solve(X, Y, loss=loss, passes=20)
        assert np.isfinite(W).all()
        assert np.isfinite(b).all()

"""The lasso of scikit-learn, without intercept."""

from sklearn.linear_model import Lasso


def scikit_lasso(rows, answers, alpha):
    """The minimiser of half the mean squared error plus alpha times the l1 norm."""
    model = Lasso(alpha, fit_intercept=False, tol=1e-12, max_iter=1_000_000)
    return model.fit(rows, answers).coef_

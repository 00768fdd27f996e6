# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# The figures of R for the same data. Reads the CSV files of the command line (factors, treatment,
# block, y). Prints one figure in a line: file, kind, name, value. Base R only.

say <- function(file, kind, names, values) {
  cat(paste(file, kind, names, format(values, digits = 14, trim = TRUE), sep = ";"), sep = "\n")
}

# The terms in the requested order, the remainder of the treatments, the residual.
sequential <- function(file, d, terms) {
  ordered <- terms(reformulate(c("block", terms, "treatment"), "log(y)"), keep.order = TRUE)
  table <- anova(lm(ordered, d))
  rows <- trimws(rownames(table))
  say(file, "squares", rows, table[["Sum Sq"]])
  say(file, "df", rows, table[["Df"]])
  tested <- !is.na(table[["F value"]])
  say(file, "f", rows[tested], table[["F value"]][tested])
  say(file, "p", rows[tested], table[["Pr(>F)"]][tested])
}

# A term adjusted for all that do not contain it, against the error of the treatments.
type2 <- function(file, kind, d, terms, term, values) {
  d$v <- values
  own <- strsplit(term, ":")[[1]]
  others <- terms[!sapply(strsplit(terms, ":"), function(p) all(own %in% p))]
  pure <- lm(v ~ block + treatment, d)
  less <- lm(reformulate(c("block", others), "v"), d)
  more <- lm(reformulate(c("block", others, term), "v"), d)
  df <- df.residual(less) - df.residual(more)
  squares <- deviance(less) - deviance(more)
  f <- squares / df / (deviance(pure) / df.residual(pure))
  say(file, paste0(kind, c("squares", "df", "f")), term, c(squares, df, f))
}

# Aligned ranks within strata: runs of one block that differ in the term's own factors only.
aligned <- function(file, d, factors, terms) {
  for (term in terms) {
    own <- strsplit(term, ":")[[1]]
    stratum <- interaction(d[c("block", setdiff(factors, own))], drop = TRUE)
    combination <- interaction(d[factors], drop = TRUE)
    centred <- function(v) {
      for (f in own) v <- v - ave(v, interaction(c(list(stratum), d[setdiff(own, f)]), drop = TRUE))
      v
    }
    left <- centred(log(d$y))
    ranks <- centred(rank(round(left / max(abs(left)), 10)))
    levels <- sapply(own, function(f) nlevels(d[[f]]) - 1)
    df <- prod(levels)
    combinations <- nlevels(combination) / prod(levels + 1)
    error <- (nlevels(stratum) - combinations) * df
    effect <- sum(ave(ranks, interaction(d[own]))^2)
    f <- effect / df / (sum((ranks - ave(ranks, combination))^2) / error)
    say(file, "rankf", term, f)
  }
}

# Means over treatments, each counting alike, and Tukey's test with each pair's own variance.
tukey <- function(file, d, factor) {
  model <- lm(log(y) ~ treatment + block, d)
  cells <- unique(d[, c("treatment", factor)])
  columns <- paste0("treatment", cells$treatment)
  levels <- levels(d[[factor]])
  weights <- t(sapply(levels, function(l) {
    w <- setNames(numeric(length(coef(model))), names(coef(model)))
    mine <- columns[cells[[factor]] == l]
    for (m in mine) if (m %in% names(w)) w[m] <- w[m] + 1 / length(mine)
    w
  }))
  for (i in seq_along(levels)) for (j in seq_len(i - 1)) {
    w <- weights[j, ] - weights[i, ]
    difference <- sum(w * coef(model))
    error <- sqrt(as.vector(t(w) %*% vcov(model) %*% w))
    p <- ptukey(abs(difference) / error * sqrt(2), length(levels), df.residual(model), lower.tail = FALSE)
    half <- qtukey(0.95, length(levels), df.residual(model)) * error / sqrt(2)
    name <- paste(levels[j], levels[i], sep = "-")
    say(file, "difference", name, difference)
    say(file, "low", name, difference - half)
    say(file, "high", name, difference + half)
    say(file, "pair", name, p)
  }
}

spread <- function(file, d) {
  r <- residuals(lm(log(y) ~ block + treatment, d))
  apart <- abs(r - ave(r, d$treatment, FUN = median))
  table <- anova(lm(apart ~ d$treatment))
  say(file, "spreadf", "f", table[["F value"]][1])
  say(file, "spreadp", "p", table[["Pr(>F)"]][1])
  test <- shapiro.test(r)
  say(file, "shapiro", "w", test$statistic)
  say(file, "shapirop", "p", test$p.value)
}

for (path in commandArgs(trailingOnly = TRUE)) {
  d <- read.csv(path, stringsAsFactors = TRUE)
  d$block <- factor(d$block)
  file <- sub("\\.csv$", "", basename(path))
  factors <- setdiff(names(d), c("treatment", "block", "y"))
  pairs <- combn(factors, 2, paste, collapse = ":")
  terms <- c(factors, pairs)
  complete <- nrow(d) == nlevels(d$block) * nlevels(d$treatment)

  sequential(file, d, terms)
  for (term in terms) type2(file, "type2", d, terms, term, log(d$y))
  if (file != "constrained") {
    if (complete) aligned(file, d, factors, terms)
    for (factor in factors) tukey(file, d, factor)
  }
  spread(file, d)
  if (file == "balanced") {
    # the same, as R users write it: blocks as a stratum of their own, and TukeyHSD itself
    strata <- summary(aov(log(y) ~ a * b * c + Error(block), d))[["Error: Within"]][[1]]
    tested <- !is.na(strata[["F value"]])
    say(file, "stratumf", trimws(rownames(strata))[tested], strata[["F value"]][tested])
    found <- TukeyHSD(aov(log(y) ~ block + a * b * c, d), "c")$c
    say(file, "hsd", rownames(found), found[, "p adj"])
    say(file, "hsdlow", rownames(found), found[, "lwr"])
    say(file, "hsdhigh", rownames(found), found[, "upr"])
    # means of two rankings of the same things
    means <- tapply(log(d$y), list(d$c, d$a), mean)
    say(file, "tau", "a0-a1", cor(means[, 1], means[, 2], method = "kendall"))
  }
}

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# The figures of R for the same data. Reads the CSV files of the command line (block, allocator, t; the
# baseline is t0). Prints one figure in a line: file, kind, name, value.
suppressMessages(library(multcomp))

say <- function(file, kind, names, values) {
  cat(paste(file, kind, names, format(values, digits = 12), sep = ","), sep = "\n")
}

for (file in commandArgs(trailingOnly = TRUE)) {
  d <- read.csv(file, stringsAsFactors = TRUE)
  d$block <- factor(d$block)
  complete <- nrow(d) == nlevels(d$block) * nlevels(d$allocator)

  model <- lm(log(t) ~ block + allocator, d)
  table <- anova(model)
  say(file, "squares", rownames(table), table[["Sum Sq"]])
  say(file, "f", rownames(table)[1:2], table[["F value"]][1:2])
  say(file, "p", rownames(table)[1:2], table[["Pr(>F)"]][1:2])
  say(file, "sigma", "sigma", summary(model)$sigma)

  set.seed(1)
  against <- confint(glht(model, linfct = mcp(allocator = "Dunnett")))$confint
  to <- sub(" - .*", "", rownames(against))
  say(file, "ratio", to, exp(against[, "Estimate"]))
  say(file, "low", to, exp(against[, "lwr"]))
  say(file, "high", to, exp(against[, "upr"]))

  # TukeyHSD is right for complete blocks only; with holes its own rule, by hand, on the model.
  if (complete) {
    pairs <- TukeyHSD(aov(log(t) ~ block + allocator, d), "allocator")$allocator
    say(file, "pair", rownames(pairs), pairs[, "p adj"])
    say(file, "pairlow", rownames(pairs), pairs[, "lwr"])
    say(file, "pairhigh", rownames(pairs), pairs[, "upr"])
  } else {
    test <- summary(glht(model, linfct = mcp(allocator = "Tukey")), test = univariate())$test
    p <- ptukey(abs(test$tstat) * sqrt(2), nlevels(d$allocator), model$df.residual, lower.tail = FALSE)
    say(file, "pair", gsub(" ", "", names(test$tstat)), p)
  }
}

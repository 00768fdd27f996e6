# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the steps of a formula without Homebrew: ruby formula.rb FORMULA. Prints each command on a line.
class Formula
  class << self
    attr_reader :steps

    def desc(_text) = nil
    def license(_name) = nil
    def depends_on(_what) = nil
    def head(url, using:, branch:) = puts("head #{url} #{using} #{branch}")
    def test(&steps) = @steps = steps
  end

  def std_cmake_args = ["-DCMAKE_INSTALL_PREFIX=/prefix"]
  def include = "/prefix/include"
  def lib = "/prefix/lib"
  def testpath = require("pathname") && Pathname.new(Dir.pwd)
  def system(*words) = puts(words.join(" "))
end

def ENV.cc = "cc"

load ARGV[0]
formula = Heapwright.new
formula.install
formula.instance_eval(&Heapwright.steps)

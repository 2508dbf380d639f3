# SPDX-License-Identifier: MIT
# A C++ program that is all containers.
need() { require c++; }

input() { c++ -std=c++17 -O2 -pthread -o stl "$here/stl.cpp"; }

work() { measured ./stl "$(of 2 12)"; }

#include "app/command_line.h"

int main(int argc, char** argv) { return dq::app::runCommandLine(argc, argv); }

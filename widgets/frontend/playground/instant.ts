// The picture while one types: programs that the browser understands are run here, without Python.
import { buildSnapshot } from "../evaluator/picture";
import { runProgram } from "../evaluator/program";
import { ProgramError } from "../evaluator/tokens";
import type { Snapshot } from "../src/schema";

const IMPORT = /^import minitape as tf$/m;

/** Returns the picture of a program; or a sentence that says why only Python can run it. */
export function runInstantly(program: string): Snapshot | string {
  // Without these a program means something else here than in Python.
  if (!IMPORT.test(program) || !program.includes("GradientTape")) return "";
  try {
    return buildSnapshot(runProgram(program), program);
  } catch (reason) {
    if (!(reason instanceof ProgramError)) throw reason;
    return `${reason.span.line}: ${reason.message}`;
  }
}

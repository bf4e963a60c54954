// The picture while one types: programs that the browser understands are run here, without Python.
import { buildSnapshot } from "../evaluator/picture";
import { runProgram } from "../evaluator/program";
import { ProgramError } from "../evaluator/tokens";
import type { Snapshot } from "../src/schema";

const IMPORT = /^import minitape as tf$/m;

/** Why only Python can run a program: at which line, and a sentence. */
export interface Refusal {
  line: number;
  reason: string;
}

/** Returns the picture of a program, or why only Python can run it; null where nothing says why. */
export function runInstantly(program: string): Snapshot | Refusal | null {
  // Without these a program means something else here than in Python.
  if (!IMPORT.test(program) || !program.includes("GradientTape")) return null;
  try {
    return buildSnapshot(runProgram(program), program);
  } catch (reason) {
    if (!(reason instanceof ProgramError)) throw reason;
    return { line: reason.span.line, reason: reason.message };
  }
}

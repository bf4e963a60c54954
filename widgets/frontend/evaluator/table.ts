// The engine's table of operations, which tests/widgets/make_browser_table.py writes.
import table from "./table.json";

export interface Operation {
  label: string;
  formula: string;
  rule: string[];
  said: string[];
  recorded: string[];
  cut: string | null;
  transposed?: Record<string, string[]>;
}

export const OPERATIONS: Record<string, Operation> = table;

export function isOperation(name: string): boolean {
  return Object.hasOwn(OPERATIONS, name);
}

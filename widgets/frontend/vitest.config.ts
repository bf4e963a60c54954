import { defineConfig } from "vitest/config";

// Style sheets are text for the bundle; the tests need none of it.
export default defineConfig({
  plugins: [{ name: "css-text", load: (id) => (id.endsWith(".css") ? "export default ''" : null) }],
  // Only a test that hangs should fail by the clock: a busy machine is ten times slower.
  test: { testTimeout: 120_000 },
});

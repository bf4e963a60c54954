declare module "*.css" {
  const text: string;
  export default text;
}
// build.mjs bundles the named module and gives its text.
declare module "worker:*" {
  const source: string;
  export default source;
}

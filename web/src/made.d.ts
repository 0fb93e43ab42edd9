/* What build.mjs makes. */
declare module "cg:views" {
  const views: import("./view").View[];
  export default views;
}
declare module "cg:notices" {
  const notices: { name: string; version: string; licence: string; text: string }[];
  export default notices;
}
declare module "worker:*" {
  const script: string;
  export default script;
}

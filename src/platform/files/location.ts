/** Objects of a bucket whose keys begin with a prefix. */
export type S3Location = {
  bucket: string;
  /** Empty, or names separated by slashes. */
  prefix: string;
  /** The service's address; undefined: that of AWS. */
  endpoint: string | undefined;
  region: string | undefined;
};

/** The place of the stored files. */
export type FilesLocation = { folder: string } | S3Location;

/** Returns the place as people read it. */
export const formatLocation = (location: FilesLocation): string => {
  if ("folder" in location) return location.folder;
  const { bucket, prefix, endpoint } = location;
  const at = endpoint === undefined ? "" : ` at ${endpoint}`;
  return `s3://${bucket}${prefix === "" ? "" : `/${prefix}`}${at}`;
};

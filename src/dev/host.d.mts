export interface Host {
  /** As packages and published binaries are named: `linux-x64`, `darwin-arm64`. */
  readonly name: string
  readonly platform: string
  readonly architecture: string
  /** Why nothing of ours runs here, and what to do; null where it does. */
  readonly refusal: string | null
  /** The packages that bring a Node and a PostgreSQL along, by name. */
  readonly packages: { readonly node: string; readonly postgres: string }
  /** Whether the kernel shows its processes as files in `/proc`; else `ps` and `lsof` tell of them. */
  readonly hasProc: boolean
  /** Whether a name of the kernel's can be held, which it takes back when the holder dies; else a lock on a file. */
  readonly hasAbstractSockets: boolean
  /** Whether all of 127.0.0.0/8 leads here; else 127.0.0.1 alone. */
  readonly hasLoopbackNetwork: boolean
  /** Where files are kept in memory, if it has such a place. */
  readonly memoryFolder: string | null
}

export function hostOf(platform: string, architecture: string): Host

export const host: Host

import type { Context } from '../../kernel/contract/context.ts'

export type Archiving = Pick<Context, 'sql' | 'tenant' | 'ports'>

/** What is in an archive, as its manifest lists it. */
export interface Manifest {
  readonly files: { name: string; bytes: number; sha256: string; records?: number }[]
  /** Files that are away or damaged, by their SHA-256. */
  readonly missing: string[]
}

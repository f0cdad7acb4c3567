import type { View, ViewNote } from '../../ports/viewer.ts'
import type { FileKind } from '../../values/file-kind.ts'

/** What the process is asked: to look at a file, or for the picture of one that cannot be shown. */
export type Ask =
  | { readonly bytes: Uint8Array; readonly kind: FileKind }
  | { readonly plain: { readonly pages: number | null } }

/** What is known of a document before its first page is drawn. */
export interface Facts {
  readonly pages: number | null
  readonly notes: readonly ViewNote[]
  readonly text: string | null
}

export type Told =
  | { readonly facts: Facts }
  | { readonly view: View }
  | { readonly pictures: Pick<View, 'small' | 'large'> }
  | { readonly problem: string }
  /** It can be kept, and not be shown. */
  | { readonly unseen: Facts }

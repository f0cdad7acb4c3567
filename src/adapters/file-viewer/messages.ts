import type { View, ViewNote } from '../../ports/viewer.ts'
import type { FileKind } from '../../values/file-kind.ts'

export type ViewRequest =
  | { readonly bytes: Uint8Array; readonly kind: FileKind }
  | { readonly plain: { readonly pages: number | null } }

export interface Facts {
  readonly pages: number | null
  readonly notes: readonly ViewNote[]
  readonly text: string | null
}

export type ViewReply =
  | { readonly facts: Facts }
  | { readonly view: View }
  | { readonly pictures: Pick<View, 'small' | 'large'> }
  | { readonly problem: string }
  | { readonly unseen: Facts }

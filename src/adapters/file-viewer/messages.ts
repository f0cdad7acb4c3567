import type { FilePreview, FileViewWarning } from '../../ports/viewer.ts'
import type { FileKind } from '../../values/file-kind.ts'

export type ViewerRequest =
  | { readonly bytes: Uint8Array; readonly kind: FileKind }
  | { readonly plain: { readonly pages: number | null } }

export interface DocumentFacts {
  readonly pages: number | null
  readonly notes: readonly FileViewWarning[]
  readonly text: string | null
}

export type ViewerReply =
  | { readonly facts: DocumentFacts }
  | { readonly view: FilePreview }
  | { readonly pictures: Pick<FilePreview, 'small' | 'large'> }
  | { readonly problem: string }
  | { readonly unseen: DocumentFacts }

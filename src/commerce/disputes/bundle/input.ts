import type { FileKind } from '../../../values/file-kind.ts'

/** What a bundle shows, in the order of its pages: plain JSON, so that it outlives a crash and reaches a thread. */
export interface BundleInput {
  readonly title: string
  readonly subtitle: string
  readonly author: string
  /** Stands at the foot of each page. */
  readonly foot: string
  /** The instant of the last thing that it tells of: no other time stands in the document. */
  readonly madeAt: string
  readonly sections: readonly Section[]
  /** Files whose pictures follow, each on a page of its own. */
  readonly pictures: readonly Picture[]
}

export interface Section {
  readonly title: string
  readonly blocks: readonly Block[]
}

export type Block =
  | { readonly kind: 'facts'; readonly rows: readonly (readonly [name: string, value: string])[] }
  | {
      readonly kind: 'table'
      readonly columns: readonly Column[]
      readonly rows: readonly (readonly string[])[]
    }
  | { readonly kind: 'text'; readonly text: string; readonly isSmall?: true }

export interface Column {
  readonly name: string
  /** The share of the page's width. */
  readonly share: number
}

export interface Picture {
  readonly title: string
  /** Of the file as it came. */
  readonly sha256: string
  readonly kind: FileKind
  /** Of the picture that was made anew of it; null where none was made yet. */
  readonly viewSha256: string | null
}

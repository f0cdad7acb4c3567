import type { FileKind } from '../values/file-kind.ts'

/** What is in a document that is never run and never opened. */
export const viewNotes = ['encrypted', 'scripts', 'attachments'] as const
export type ViewNote = (typeof viewNotes)[number]

/** What a file shows, made anew: nothing of the file itself is in the pictures. */
export interface View {
  /** WebP, without metadata: at most 320 px, and at most 1,200 px wide and high. */
  readonly small: Uint8Array
  readonly large: Uint8Array
  /** It could not be shown: the pictures say only what it is. */
  readonly isPlain: boolean
  /** Of a document; null of a picture, and where nobody can count them. */
  readonly pages: number | null
  readonly notes: readonly ViewNote[]
  /**
   * What can be read in it; null where nothing can. A viewer that reads photographs gives their text here, and all that
   * is made of a text is made of theirs.
   */
  readonly text: string | null
}

/** What it shows; or why it cannot be taken, in words for whoever has sent it. */
export type Looked = View | { readonly problem: string }

/** A thread that has the bytes of a file imports the module and calls the function with them. */
export interface ViewTask {
  readonly module: string
  readonly name: string
  readonly args: readonly unknown[]
}

/** Looks at files that anybody may have made, where they can do no harm. */
export interface Viewer {
  /**
   * Has a file looked at when it is its owner's turn: `carryOut` has a thread do the task. Throws a Problem where the owner's
   * files wait or take too long.
   */
  look(owner: string, kind: FileKind, carryOut: (task: ViewTask) => Promise<Looked>): Promise<Looked>
}

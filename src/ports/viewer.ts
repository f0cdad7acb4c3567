import type { FileKind } from '../values/file-kind.ts'

export const viewNotes = ['encrypted', 'scripts', 'attachments'] as const
export type ViewNote = (typeof viewNotes)[number]

/** Re-encoded pictures of a file: they contain nothing of the file itself. */
export interface View {
  /** WebP, without metadata: at most 320 px, and at most 1,200 px wide and high. */
  readonly small: Uint8Array
  readonly large: Uint8Array
  /** The file could not be rendered: the pictures only say what it is. */
  readonly isPlain: boolean
  readonly pages: number | null
  readonly notes: readonly ViewNote[]
  /**
   * The text of the file; null if it has none. A viewer that recognizes text in photographs would return it
   * here, and it would be used like any other.
   */
  readonly text: string | null
}

export type ViewResult = View | { readonly problem: string }

/** A thread that has the bytes of a file imports the module and calls the function with them. */
export interface ViewTask {
  readonly module: string
  readonly name: string
  readonly args: readonly unknown[]
}

export interface Viewer {
  /**
   * Renders a file in its owner's turn: `carryOut` runs the task in a thread. Throws a Problem if the owner's
   * files wait or take too long.
   */
  render(
    owner: string,
    kind: FileKind,
    carryOut: (task: ViewTask) => Promise<ViewResult>,
  ): Promise<ViewResult>
}

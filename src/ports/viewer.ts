import type { FileKind } from '../values/file-kind.ts'

export const fileViewWarnings = ['encrypted', 'scripts', 'attachments'] as const
export type FileViewWarning = (typeof fileViewWarnings)[number]

/** Re-encoded pictures of a file: they contain nothing of the file itself. */
export interface FilePreview {
  /** WebP, without metadata: at most 320 px, and at most 1,200 px wide and high. */
  readonly small: Uint8Array
  readonly large: Uint8Array
  /** The file could not be rendered: the pictures only say what it is. */
  readonly isPlain: boolean
  readonly pages: number | null
  readonly notes: readonly FileViewWarning[]
  /**
   * The text of the file; null if it has none. A viewer that recognizes text in photographs would return it
   * here, and it would be used like any other.
   */
  readonly text: string | null
}

export type FilePreviewResult = FilePreview | { readonly problem: string }

/** A thread that has the bytes of a file imports the module and calls the function with them. */
export interface FileViewTask {
  readonly module: string
  readonly name: string
  readonly args: readonly unknown[]
}

export interface FileViewer {
  /**
   * Renders a file in its owner's turn: `carryOut` runs the task in a thread. Throws a Problem if the owner's
   * files wait or take too long.
   */
  render(
    owner: string,
    kind: FileKind,
    carryOut: (task: FileViewTask) => Promise<FilePreviewResult>,
  ): Promise<FilePreviewResult>
}

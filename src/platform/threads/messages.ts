import type { MessagePort } from 'node:worker_threads'

export interface ThreadJobRequest {
  readonly port: MessagePort
  readonly module: string
  readonly name: string
  readonly args: readonly unknown[]
  /** The job starts at once and reads the bytes that are sent to it. */
  readonly hasInput: boolean
}

/**
 * A message to a thread: run the next step; the page that the thread requested (`undefined` ends the pages);
 * or bytes, whose memory the thread returns after reading (`null` ends them).
 */
export type ThreadStepRequest =
  | { readonly next: true }
  | { readonly page: unknown }
  | { readonly bytes: Uint8Array<ArrayBuffer> | null }
  | { readonly isBrokenOff: true }

export type ThreadAnswer =
  | { readonly room: ArrayBuffer }
  | { readonly piece: unknown }
  | { readonly end: true }
  | { readonly wantsPage: true }
  | { readonly failure: { readonly message: string; readonly stack: string | undefined } }

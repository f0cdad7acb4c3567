import type { MessagePort } from 'node:worker_threads'

/** The description of a job, with the port over which its steps are requested. */
export interface JobRequest {
  readonly port: MessagePort
  readonly module: string
  readonly name: string
  readonly args: readonly unknown[]
  /** It begins at once, and reads bytes that are sent to it. */
  readonly isFed: boolean
}

/**
 * A message to a thread: run the next step, take the page it asked for (`undefined` ends the pages), or take bytes, whose
 * memory it gives back once it has read them (`null` ends them).
 */
export type StepRequest =
  | { readonly next: true }
  | { readonly page: unknown }
  | { readonly bytes: Uint8Array<ArrayBuffer> | null }
  | { readonly isBrokenOff: true }

export type Answer =
  | { readonly room: ArrayBuffer }
  | { readonly piece: unknown }
  | { readonly end: true }
  | { readonly wantsPage: true }
  | { readonly failure: { readonly message: string; readonly stack: string | undefined } }

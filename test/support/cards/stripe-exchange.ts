import type { IncomingMessage } from 'node:http'
import type { formTree } from './form.ts'

export type StripeParams = ReturnType<typeof formTree>
export type StripeObject = Record<string, unknown>

export interface StripeRequest {
  readonly method: string
  readonly path: string
  readonly params: StripeParams
  readonly key: string | undefined
  readonly headers: IncomingMessage['headers']
}

export interface StripeAnswer {
  readonly status: number
  readonly body: StripeObject
}

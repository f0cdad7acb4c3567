import type { z } from 'zod'
import type { Operation, PathParam } from './operation.ts'
import type { Refusal } from './problem.ts'

/** Members of a query as they stand in an address; the contract reads them. */
type Query<Q> = { readonly [Name in keyof Q]?: string | number | boolean | undefined }

type Params<P extends string> = [PathParam<P>] extends [never]
  ? { readonly params?: never }
  : { readonly params: Readonly<Record<PathParam<P>, string>> }

export type Question<P extends string, Q extends z.ZodType, B extends z.ZodType> = Params<P> & {
  readonly query?: Query<z.input<Q>>
  readonly body?: z.input<B>
}

type Arguments<T> = Record<never, never> extends T ? [question?: T] : [question: T]

/**
 * Asks an operation that reads, within the process: with the rights of who has called, and answered as by HTTP. What is
 * refused is thrown as `Refused`.
 */
export type Ask = <P extends string, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType>(
  // biome-ignore lint/suspicious/noExplicitAny: whatever it may refuse, emit or need
  operation: Operation<P, Q, B, R, any, any, any>,
  ...question: Arguments<Question<P, Q, B>>
) => Promise<z.input<R>>

/** The refusal of an operation that was asked within the process. */
export class Refused extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

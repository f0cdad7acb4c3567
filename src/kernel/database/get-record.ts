import type { EntityClass, FilterQuery } from '@mikro-orm/core'
import type { Context } from '../contract/context.ts'
import type { Refusal } from '../contract/problem.ts'

interface ById {
  readonly params: { readonly id: string }
}

/** The handler of a `getOne`: the record with the id of the path, or the refusal. */
export const getRecord =
  <T extends { id: string }, F extends string>(entity: EntityClass<T>, refusal: F) =>
  async ({ params: { id } }: ById, { em, refuse }: Context<F>): Promise<T | Refusal> =>
    (await em.findOne(entity, { id } as FilterQuery<T>)) ?? refuse(refusal)

/** The same, where the answer is made from the record. */
export const getRecordAs =
  <T extends { id: string }, F extends string, R>(
    entity: EntityClass<T>,
    refusal: F,
    answer: (record: T, context: Context<F>) => R | Promise<R>,
  ) =>
  async ({ params: { id } }: ById, context: Context<F>): Promise<R | Refusal> => {
    const record = await context.em.findOne(entity, { id } as FilterQuery<T>)
    return record ? answer(record, context) : context.refuse(refusal)
  }

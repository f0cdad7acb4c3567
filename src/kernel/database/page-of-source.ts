import type { EntityClass, FilterQuery } from '@mikro-orm/core'
import type { RowSource } from '../contract/conditions.ts'
import type { ReadContext } from '../contract/context.ts'
import type { RecordPage } from '../contract/page.ts'
import type { TenantEntityManager } from './entity-manager.ts'

/** A page of the matching records of a source, newest first. The source may leave out what is not before `after`. */
export const pageOfSource = <T extends { id: string }>(
  { pageBy, em }: ReadContext,
  entity: EntityClass<T>,
  condition: FilterQuery<T>,
  sourceBefore: (after: string | undefined) => RowSource,
): Promise<RecordPage<T>> =>
  pageBy((after, most) => {
    const rest = after === undefined ? {} : { id: { $lt: after } }
    const selection = { source: sourceBefore(after), limit: most }
    return (em as TenantEntityManager).rows(entity, { $and: [condition as object, rest] }, selection)
  })

import type { EntityClass } from '@mikro-orm/core'
import type { ReadContext } from '../contract/context.ts'
import type { RecordPage } from '../contract/page.ts'
import { inRange, type RecordCondition, type RowSource } from '../contract/records.ts'

/** A page of the matching records of a source, newest first. The source may leave out what is not before `after`. */
export const pageOfSource = <T extends { id: string }>(
  { pageBy, records }: ReadContext,
  entity: EntityClass<T>,
  condition: RecordCondition<T>,
  sourceBefore: (after: string | undefined) => RowSource,
): Promise<RecordPage<T>> =>
  pageBy((after, most) => {
    const rest = (after ? { id: inRange({ lt: after }) } : {}) as RecordCondition<T>
    const options = { source: sourceBefore(after), limit: most }
    return records.find(entity, { $and: [condition, rest] } as unknown as RecordCondition<T>, options)
  })

import type { EntityClass } from '@mikro-orm/core'
import type { FindOptions, RecordCondition, Records } from '../../record-store/records.ts'

export {
  contains,
  inRange,
  not,
  oneOf,
  type Range,
  type SqlCondition,
  sqlCondition,
  startsWith,
} from '../../record-store/conditions.ts'
export type { FindOptions, RecordCondition, Records, RowSource } from '../../record-store/records.ts'

type ReadOptions<T> = Omit<FindOptions<T>, 'lock'> & { readonly lock?: never }

/** The records of a `ReadContext`: found, counted and added up. None is locked, created or removed. */
export interface RecordReader extends Pick<Records, 'findOneOrFail' | 'count' | 'tally'> {
  find<T extends object>(
    entity: EntityClass<T>,
    condition: RecordCondition<T>,
    options?: ReadOptions<T>,
  ): Promise<T[]>
  findOne<T extends object>(
    entity: EntityClass<T>,
    condition: RecordCondition<T>,
    options?: ReadOptions<T>,
  ): Promise<T | null>
}

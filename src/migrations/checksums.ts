import { createHash } from 'node:crypto'
import type { Migration } from '@mikro-orm/migrations'

export interface ListedMigration {
  readonly name: string
  readonly class: new (...parts: ConstructorParameters<typeof Migration>) => Migration
}

export const checksumOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The checksum of the SQL that a migration runs: its comment in TypeScript and its imports may change. */
export const migrationChecksum = (listed: ListedMigration): string => checksumOf(sqlOf(listed))

export function sqlOf({ class: Listed }: ListedMigration): string {
  const [driver, config] = [] as unknown as ConstructorParameters<typeof Migration>
  const migration = new Listed(driver, config)
  void migration.up()
  return migration.getQueries().map(String).join(';\n')
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const index = readFileSync(join(import.meta.dirname, '../../../workflows/index.ts'), 'utf8')
const named = [...index.matchAll(/export \{([^}]+)\} from '\.\/([\w-]+)\.ts'/g)].flatMap(
  ([, names = '', file]) =>
    [...names.matchAll(/(?:\w+ as )?'?([\w-]+)'?/g)].map(([, name]) => ({ name: String(name), file })),
)

export const workflows = named.map(({ name }) => name)

/** The workflows that look after a record; schedules begin the others. */
export const recordWorkflows = named.filter(({ file }) => file !== 'recurring').map(({ name }) => name)

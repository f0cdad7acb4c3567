import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { schemaHistory } from '../../../src/migrations/index.ts'
import { printLine } from '../../../src/platform/output.ts'

/**
 * Lists the migrations under the version of `package.json`, from when on none of them is edited:
 *
 *     node test/support/schema/release.ts
 */
const root = join(import.meta.dirname, '../../..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const { migrations, released } = schemaHistory()
const listed = { ...released, [version]: Object.fromEntries(migrations.map(one => [one.name, one.checksum])) }
writeFileSync(join(root, 'src/migrations/released.json'), `${JSON.stringify(listed, null, 2)}\n`)
printLine(`src/migrations/released.json: ${version}, ${migrations.length}`)

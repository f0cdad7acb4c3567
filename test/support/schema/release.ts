import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { schemaHistory } from '../../../src/migrations/index.ts'
import { printLine } from '../../../src/platform/output.ts'

/**
 * Lists the last commit and its migrations under the version of `package.json`. From then on no migration of it is edited, and
 * the drill takes that commit over:
 *
 *     node test/support/schema/release.ts
 */
const root = join(import.meta.dirname, '../../..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const { migrations, released } = schemaHistory()
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
const checksums = Object.fromEntries(migrations.map(one => [one.name, one.checksum]))
const listed = { ...released, [version]: { commit, migrations: checksums } }
writeFileSync(join(root, 'src/migrations/released.json'), `${JSON.stringify(listed, null, 2)}\n`)
printLine(`src/migrations/released.json: ${version}, ${commit.slice(0, 9)}, ${migrations.length}`)

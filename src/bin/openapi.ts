import { writeFileSync } from 'node:fs'
import { areas } from '../areas.ts'
import { accessMatrix } from '../derive/access-matrix.ts'
import { openapiDocument } from '../derive/openapi/document.ts'
import { writeDocument } from '../derive/openapi/write.ts'
import { personalDataRegisterSql, retentionFunctionSql } from '../derive/personal-register.ts'
import { writeBaseline } from '../packages/write/baseline.ts'
import { writeCommandTable } from '../packages/write/commands.ts'
import { printLine } from '../platform/output.ts'

const document = openapiDocument(areas)
writeFileSync(new URL('../../openapi.json', import.meta.url), writeDocument(document))
printLine(`openapi.json: ${Object.keys(document.paths).length} paths`)

printLine(`commands.json: ${writeCommandTable(areas)} commands`)

writeFileSync(new URL('../../test/contract/access-matrix.md', import.meta.url), accessMatrix(areas))
printLine('test/contract/access-matrix.md')

const functions = {
  personal_register: personalDataRegisterSql(areas),
  kept_while: retentionFunctionSql(areas),
}
for (const [name, text] of Object.entries(functions)) {
  const file = `src/migrations/functions/${name}.sql`
  writeFileSync(new URL(`../../${file}`, import.meta.url), text)
  printLine(file)
}

const breaks = writeBaseline(process.argv.includes('--breaking'))
printLine('src/packages/callers.json')
if (breaks.length > 0)
  printLine(
    `What follows breaks programs that were written for this version. Keep it as it was, or raise the version and accept it by \`npm run openapi -- --breaking\`:\n${breaks.join('\n')}`,
  )

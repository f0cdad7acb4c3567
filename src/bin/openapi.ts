import { writeFileSync } from 'node:fs'
import { areas } from '../areas.ts'
import { commandTable, writeTable } from '../derive/commands/command-table.ts'
import { openapiDocument } from '../derive/openapi/document.ts'
import { writeDocument } from '../derive/openapi/write.ts'
import { personalRegister } from '../derive/personal-register.ts'
import { keepCalled } from '../packages/write/called.ts'
import { printLine } from '../platform/output.ts'

const document = openapiDocument(areas)
writeFileSync(new URL('../../openapi.json', import.meta.url), writeDocument(document))
printLine(`openapi.json: ${Object.keys(document.paths).length} paths`)

const table = commandTable(areas)
writeFileSync(new URL('../../commands.json', import.meta.url), writeTable(table))
printLine(`commands.json: ${Object.keys(table.operations).length} commands`)

const register = new URL('../migrations/functions/personal_register.sql', import.meta.url)
writeFileSync(register, personalRegister(areas))
printLine('src/migrations/functions/personal_register.sql')

const breaks = keepCalled(process.argv.includes('--breaking'))
printLine('src/packages/callers.json')
if (breaks.length > 0)
  printLine(
    `What follows breaks programs that were written for this version. Keep it as it was, or raise the version and accept it by \`npm run openapi -- --breaking\`:\n${breaks.join('\n')}`,
  )

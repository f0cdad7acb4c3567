import { areas } from '../areas.ts'
import { writeCommandTable } from '../packages/write/commands.ts'
import { printLine } from '../platform/output.ts'

printLine(`commands.json: ${writeCommandTable(areas)} commands`)

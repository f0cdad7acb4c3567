import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { zipOf } from '../compliance/gdpr/zip.ts'
import { readContract } from '../packages/write/contract.ts'
import { writePythonPackage } from '../packages/write/python-package.ts'
import { writeTypescriptPackage } from '../packages/write/typescript-package.ts'
import { printLine } from '../platform/output.ts'

const folder = fileURLToPath(new URL('../../dist/packages', import.meta.url))
const contract = readContract()

await writeTypescriptPackage(contract, join(folder, 'typescript'))
await writePythonPackage(contract, join(folder, 'python'), zipOf)
printLine(`dist/packages: agentpay ${contract.version}, ${contract.operations.length} operations`)

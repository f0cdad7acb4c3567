import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readClientContract } from '../packages/write/contract.ts'
import { writePythonPackage } from '../packages/write/python-package.ts'
import { writeTypescriptPackage } from '../packages/write/typescript-package.ts'
import { printLine } from '../platform/output.ts'
import { zipStream } from '../values/zip.ts'

const folder = fileURLToPath(new URL('../../dist/packages', import.meta.url))
const contract = readClientContract()

await writeTypescriptPackage(contract, join(folder, 'typescript'))
await writePythonPackage(contract, join(folder, 'python'), zipStream)
printLine(`dist/packages: agentpay ${contract.version}, ${contract.operations.length} operations`)

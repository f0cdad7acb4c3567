import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { ClientContract } from './contract.ts'
import { pythonApi, pythonClientKinds, pythonTypes } from './python-api.ts'

const source = fileURLToPath(new URL('../python', import.meta.url))

interface ZipEntry {
  readonly name: string
  readonly content: AsyncIterable<Uint8Array>
}

/** A wheel is a ZIP archive. */
type Zip = (entries: AsyncIterable<ZipEntry>, at: Date) => AsyncIterable<Uint8Array>

/** A fixed time stamp for every file: the same contract gives the same package. */
const AT = new Date('2020-01-01T00:00:00Z')

const pyproject = (version: string): string => `[build-system]
requires = ["flit_core >=3.8,<4"]
build-backend = "flit_core.buildapi"

[project]
name = "agentpay"
version = "${version}"
description = "Agent Payments: a typed client, sync and async, and the checks of its signatures"
readme = "README.md"
requires-python = ">=3.10"
dependencies = ["httpx >=0.27,<1"]
classifiers = ["Typing :: Typed", "License :: Other/Proprietary License"]

[tool.mypy]
strict = true
`

const metadata = (version: string, readme: string): string => `Metadata-Version: 2.1
Name: agentpay
Version: ${version}
Summary: Agent Payments: a typed client, sync and async, and the checks of its signatures
Requires-Python: >=3.10
Requires-Dist: httpx (>=0.27,<1)
Classifier: Typing :: Typed
Classifier: License :: Other/Proprietary License
Description-Content-Type: text/markdown

${readme}`

const WHEEL = 'Wheel-Version: 1.0\nGenerator: agent-payments\nRoot-Is-Purelib: true\nTag: py3-none-any\n'

/** Writes `agentpay-<version>.tar.gz` and `agentpay-<version>-py3-none-any.whl`, and returns their paths. */
export async function writePythonPackage(
  contract: ClientContract,
  folder: string,
  zip: Zip,
): Promise<{ readonly sdist: string; readonly wheel: string }> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { version } = contract
  const modules = modulesOf(contract)
  const readme = readFileSync(join(source, 'README.md'), 'utf8')
  const [sdist, wheel] = [
    join(folder, `agentpay-${version}.tar.gz`),
    join(folder, `agentpay-${version}-py3-none-any.whl`),
  ]
  const info = fileOf('PKG-INFO', metadata(version, readme))
  const project = [fileOf('pyproject.toml', pyproject(version)), fileOf('README.md', readme), info]
  const inFolder = [...project, ...modules].map(({ name, content }) => ({
    name: `agentpay-${version}/${name}`,
    content,
  }))
  writeFileSync(sdist, tarGz(inFolder, AT))
  const pieces: Uint8Array[] = []
  for await (const piece of zip(entriesOf(wheelFiles(modules, info, version)), AT)) pieces.push(piece)
  writeFileSync(wheel, Buffer.concat(pieces))
  return { sdist, wheel }
}

const fileOf = (name: string, text: string): PackedFile => ({ name, content: Buffer.from(text) })

function modulesOf(contract: ClientContract): PackedFile[] {
  const folder = join(source, 'agentpay')
  const byHand = readdirSync(folder)
    .filter(name => /^(\w+\.py|py\.typed)$/.test(name))
    .sort()
    .map(name => ({ name: `agentpay/${name}`, content: readFileSync(join(folder, name)) }))
  return [
    ...byHand,
    fileOf('agentpay/types.py', pythonTypes(contract)),
    ...pythonClientKinds.map(kind => fileOf(`agentpay/${kind.module}_api.py`, pythonApi(contract, kind))),
  ]
}

function wheelFiles(modules: readonly PackedFile[], info: PackedFile, version: string): PackedFile[] {
  const folder = `agentpay-${version}.dist-info`
  const files = [
    ...modules,
    { name: `${folder}/METADATA`, content: info.content },
    fileOf(`${folder}/WHEEL`, WHEEL),
  ]
  const digest = (content: Buffer): string => createHash('sha256').update(content).digest('base64url')
  const record = files.map(({ name, content }) => `${name},sha256=${digest(content)},${content.length}`)
  const name = `${folder}/RECORD`
  return [...files, fileOf(name, [...record, `${name},,`, ''].join('\n'))]
}

async function* entriesOf(files: readonly PackedFile[]): AsyncGenerator<ZipEntry> {
  for (const { name, content } of files)
    yield {
      name,
      content: (async function* () {
        yield content
      })(),
    }
}

interface PackedFile {
  readonly name: string
  readonly content: Buffer
}

const BLOCK = 512

/** A `.tar.gz` (POSIX ustar) with one time stamp for all files, so that the same files give the same archive. */
function tarGz(files: readonly PackedFile[], at: Date): Buffer {
  const seconds = Math.floor(at.getTime() / 1_000)
  const blocks = files.flatMap(({ name, content }) => [
    header(name, content.length, seconds),
    content,
    Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK),
  ])
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]))
}

function header(name: string, size: number, seconds: number): Buffer {
  const block = Buffer.alloc(BLOCK)
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long for an archive.`)
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`
  block.write(name, 0)
  block.write(octal(0o644, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(size, 11), 124)
  block.write(octal(seconds, 11), 136)
  block.write('        ', 148)
  block.write('0', 156)
  block.write('ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

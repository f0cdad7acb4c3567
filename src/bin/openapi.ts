import { writeFileSync } from 'node:fs'
import { areas } from '../areas.ts'
import { openapiDocument } from '../derive/openapi/document.ts'
import { writeDocument } from '../derive/openapi/write.ts'
import { printLine } from '../platform/output.ts'

const document = openapiDocument(areas)
writeFileSync(new URL('../../openapi.json', import.meta.url), writeDocument(document))
printLine(`openapi.json: ${Object.keys(document.paths).length} paths`)

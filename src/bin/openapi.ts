import { writeFileSync } from 'node:fs'
import { areas } from '../areas.ts'
import { openapiDocument } from '../derive/openapi/document.ts'
import { writeDocument } from '../derive/openapi/write.ts'
import { say } from '../platform/output.ts'

const document = openapiDocument(areas)
writeFileSync(new URL('../../openapi.json', import.meta.url), writeDocument(document))
say(`openapi.json: ${Object.keys(document.paths).length} paths`)

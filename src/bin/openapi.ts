import { writeFileSync } from 'node:fs'
import { areas } from '../areas.ts'
import { writeDocument } from '../derive/openapi/write.ts'
import { openapiDocument } from '../derive/openapi.ts'
import { say } from './say.ts'

const document = openapiDocument(areas)
writeFileSync(new URL('../../openapi.json', import.meta.url), writeDocument(document))
say(`openapi.json: ${Object.keys(document.paths).length} paths`)

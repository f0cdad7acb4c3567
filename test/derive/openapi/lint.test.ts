import { beforeAll, describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { openapiDocument } from '../../../src/derive/openapi/document.ts'
import { lintOpenapi } from '../../support/contract/lint-openapi.ts'

const document = openapiDocument(areas)

test('two linters find nothing wrong', async () => {
  expect(await lintOpenapi(JSON.stringify(document))).toEqual([])
}, 60_000)

/** The document with nothing in it but these paths. */
const holding = (paths: object): string =>
  JSON.stringify({ ...document, paths, components: { securitySchemes: document.components.securitySchemes } })

describe('in a faulty one', () => {
  let faults: string[]
  beforeAll(async () => {
    const schema = { type: 'integer' }
    const wrong = { content: { 'application/json': { schema, example: 'text' } } }
    const refusal = { content: { 'application/json': { schema, examples: { one: { value: 'text' } } } } }
    const post = {
      parameters: [{ name: 'limit', in: 'query', schema, example: 'text' }],
      requestBody: wrong,
      responses: { 200: { description: 'Done.', ...wrong }, 400: { description: 'Not done.', ...refusal } },
    }
    faults = await lintOpenapi(holding({ '/a': { post } }))
  })

  test('both linters find something', () => {
    expect(faults.filter(fault => fault.startsWith('redocly'))).not.toEqual([])
    expect(faults.filter(fault => fault.startsWith('spectral'))).not.toEqual([])
  })

  test('an example that breaks its schema is found: of a query, a body, an answer and a refusal', () => {
    const found = faults.filter(fault => fault.includes('-examples'))
    expect(found.map(fault => fault.split(' at ').at(-1)).toSorted()).toEqual([
      '#/paths/~1a/post/parameters/0/example',
      '#/paths/~1a/post/requestBody/content/application~1json/example',
      '#/paths/~1a/post/responses/200/content/application~1json/example',
      '#/paths/~1a/post/responses/400/content/application~1json/examples/one/value',
    ])
  })
})

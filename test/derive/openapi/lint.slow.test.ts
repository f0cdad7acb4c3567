import { beforeAll, describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { openapiDocument } from '../../../src/derive/openapi/document.ts'
import { lintOpenapi } from '../../support/contract/lint-openapi.ts'

const document = openapiDocument(areas)

test('the OpenAPI document passes two linters', async () => {
  expect(await lintOpenapi(JSON.stringify(document))).toEqual([])
})

const documentWith = (paths: object): string =>
  JSON.stringify({ ...document, paths, components: { securitySchemes: document.components.securitySchemes } })

describe('a faulty document', () => {
  let faults: string[]
  beforeAll(async () => {
    const schema = { type: 'integer' }
    const wrongContent = { content: { 'application/json': { schema, example: 'text' } } }
    const refusal = { content: { 'application/json': { schema, examples: { one: { value: 'text' } } } } }
    const post = {
      parameters: [{ name: 'limit', in: 'query', schema, example: 'text' }],
      requestBody: wrongContent,
      responses: {
        200: { description: 'Done.', ...wrongContent },
        400: { description: 'Not done.', ...refusal },
      },
    }
    faults = await lintOpenapi(documentWith({ '/a': { post } }))
  })

  test('fails both linters', () => {
    expect(faults.filter(fault => fault.startsWith('redocly'))).not.toEqual([])
    expect(faults.filter(fault => fault.startsWith('spectral'))).not.toEqual([])
  })

  test('fails for each invalid example: of a query, a body, an answer and a refusal', () => {
    const exampleFaults = faults.filter(fault => fault.includes('-examples'))
    expect(exampleFaults.map(fault => fault.split(' at ').at(-1)).toSorted()).toEqual([
      '#/paths/~1a/post/parameters/0/example',
      '#/paths/~1a/post/requestBody/content/application~1json/example',
      '#/paths/~1a/post/responses/200/content/application~1json/example',
      '#/paths/~1a/post/responses/400/content/application~1json/examples/one/value',
    ])
  })
})

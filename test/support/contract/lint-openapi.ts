import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'

/** The findings of two linters, one line each. */
export async function lintOpenapi(source: string): Promise<string[]> {
  return [...(await redocly(source)), ...(await stoplight(source))]
}

async function redocly(source: string): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // The specification prescribes these addresses; the router prefers the literal segment to a parameter.
      'no-ambiguous-paths': 'off',
      'no-invalid-parameter-examples': 'error',
    },
  })
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config })
  return problems.map(
    ({ ruleId, message, location }) => `redocly ${ruleId}: ${message} at ${location[0]?.pointer}`,
  )
}

/** Spectral's own types are too wide for its rules. */
const oas = rulesets.oas as unknown as RulesetDefinition

async function stoplight(source: string): Promise<string[]> {
  const linter = new spectral.Spectral()
  linter.setRuleset({
    extends: [[oas, 'recommended']],
    rules: {
      // The document does not know the operator, who would be the contact.
      'info-contact': 'off',
      // Redocly checks examples more strictly. A validator for each of 700 examples takes half of the time of
      // both.
      'oas3-valid-media-example': 'off',
      // The rule treats every scope as one of OAuth, although OpenAPI 3.1 allows roles elsewhere. Redocly
      // checks the schemes.
      'oas3-operation-security-defined': 'off',
    },
  })
  const findings = await linter.run(source)
  return findings.map(({ code, message, path }) => `spectral ${code}: ${message} at ${path.join('/')}`)
}

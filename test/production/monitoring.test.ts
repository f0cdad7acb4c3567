import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { parseYaml } from '@redocly/openapi-core'
import { DASHBOARD_SECRET } from '../support/harness.ts'
import { startSampleService } from '../support/sample-service.ts'
import { type Compose, composeText } from './compose.ts'

const service = await startSampleService()

interface Rule {
  readonly alert?: string
  readonly record?: string
  readonly expr: string
  readonly labels?: { readonly severity?: string }
  readonly annotations?: { readonly runbook: string }
}

const textOf = (path: string): string => readFileSync(path, 'utf8')

const { groups } = parseYaml(textOf('monitoring-config/alerts.yaml')) as {
  groups: readonly { readonly rules: readonly Rule[] }[]
}
const rules = groups.flatMap(group => group.rules)
const recorded = rules.flatMap(({ record = [] }) => record)

const dashboard = JSON.parse(textOf('monitoring-config/dashboard.json')) as {
  panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[]
}
const drawn = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

const { paths } = JSON.parse(textOf('openapi.json')) as {
  paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>
}
const nouns = new Set(
  Object.values(paths).flatMap(methods =>
    Object.values(methods).map(({ operationId = '' }) => operationId.split('.')[0]),
  ),
)

/** Metrics that Prometheus and the PostgreSQL exporter make. */
const OTHERS = ['up', 'pg_stat_archiver_failed_count']

const PROMQL_WORDS = ['and', 'or', 'unless', 'offset']

/** Selectors, groupings and durations. */
const NO_METRICS = /\{[^}]*\}|\w+ by \([^)]*\)|\[[^\]]*\]|\b\d+[smhd]\b/g

/** The metrics that an expression reads: the names that are in no selector and no grouping, and are no function. */
const metricsIn = (expr: string): string[] =>
  [...expr.replace(NO_METRICS, '').matchAll(/[a-z_][\w:]*(?!\w*\()\b/g)]
    .map(([name]) => name)
    .filter(name => !PROMQL_WORDS.includes(name))

const { tests } = parseYaml(textOf('monitoring-config/alerts.test.yaml')) as {
  tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string
      readonly exp_alerts: readonly object[]
    }[]
  }[]
}
const expected = tests.flatMap(({ alert_rule_test }) => alert_rule_test)

interface Scraping {
  readonly scrape_configs: readonly {
    readonly static_configs: readonly { readonly targets: readonly string[] }[]
  }[]
}

interface Discovery {
  readonly relabel_configs: readonly { readonly regex: string }[]
}

interface Deployment {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly [Container] } } }
}

interface Container {
  readonly ports: readonly object[]
  readonly env?: readonly object[]
}

/** The API processes, workers and relays. */
const programs = Object.entries((parseYaml(composeText()) as Compose).services).filter(([, { command }]) =>
  /\b(api|worker|relay)\.ts$/.test(String(command)),
)
const deployments = ['api', 'worker', 'relay'].map(name => {
  const [text = ''] = textOf(`kubernetes/${name}.yaml`).split('\n---\n')
  const { metadata, spec } = parseYaml(text) as Deployment
  return { metadata, container: spec.template.spec.containers[0] }
})

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')

describe('alerts and dashboard for Prometheus', () => {
  test('read only metrics that the processes have', async () => {
    await service.owner()
    const { text } = await service.http('GET', '/metrics', {
      headers: { 'x-dashboard-secret': DASHBOARD_SECRET },
    })
    const served = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    )
    const known = new Set([...served, ...recorded, ...OTHERS])
    const read = [...rules.map(({ expr }) => expr), ...drawn].flatMap(metricsIn)
    expect(read.length).toBeGreaterThan(40)
    expect(read.filter(name => !known.has(name))).toEqual([])
  })

  test('are tried for each alert with figures by which it fires, and with others', () => {
    const names = rules.flatMap(({ alert = [] }) => alert)
    const tried = (fires: boolean) =>
      expected.filter(({ exp_alerts }) => exp_alerts.length > 0 === fires).map(({ alertname }) => alertname)
    expect(names.filter(name => !tried(true).includes(name))).toEqual([])
    expect(names.filter(name => !tried(false).includes(name))).toEqual([])
  })

  test('select only nouns that have operations', () => {
    const selected = [...rules.map(({ expr }) => expr), ...drawn].flatMap(expr =>
      [...expr.matchAll(/\bnoun[=!]~?"([^"]*)"/g)].flatMap(([, names = '']) => names.split('|')),
    )
    expect(selected.length).toBeGreaterThan(5)
    expect(selected.filter(noun => !nouns.has(noun))).toEqual([])
  })

  test('come from each process of Docker Compose and of Kubernetes', () => {
    const [scraping, discovery] = [
      ...textOf('docs/how-to/monitoring.md').matchAll(/```yaml\n([\s\S]*?)```/g),
    ].map(([, text = '']) => parseYaml(text)) as [Scraping, Discovery]
    const processes = programs.map(
      ([name, { environment }]) => `${name}:${environment?.METRICS_PORT ?? 8080}`,
    )
    expect(scraping.scrape_configs[0]?.static_configs[0]?.targets).toEqual(processes)
    const [pods, ports] = discovery.relabel_configs.map(({ regex }) => regex)
    expect(deployments.map(({ metadata }) => metadata.name)).toEqual(pods?.split('|'))
    for (const { container } of deployments)
      expect(container.ports).toEqual([expect.objectContaining({ name: ports })])
  })

  test('and traces have the name of the part that they come from', () => {
    const named = programs.map(([name, { environment }]) => [name, environment?.OTEL_SERVICE_NAME])
    expect(named).toEqual(programs.map(([name]) => [name, `agent-payments-${name.replace(/-\d$/, '')}`]))
    for (const { metadata, container } of deployments)
      expect(container.env).toEqual([{ name: 'OTEL_SERVICE_NAME', value: `agent-payments-${metadata.name}` }])
  })

  test('name for each alert a section of the runbook, which the list of alerts links, too', () => {
    const sections = [...textOf('docs/runbook.md').matchAll(/^## (.+)$/gm)].map(([, heading = '']) =>
      anchorOf(heading),
    )
    const monitoring = textOf('docs/how-to/monitoring.md')
    const alerts = rules.filter(({ alert }) => alert)
    expect(alerts.length).toBeGreaterThan(10)
    for (const { alert, annotations } of alerts) {
      const [page, section = ''] = annotations?.runbook.split('#') ?? []
      expect([alert, page, sections.includes(section)]).toEqual([alert, 'docs/runbook.md', true])
      expect([alert, monitoring.includes(`(../runbook.md#${section})`)]).toEqual([alert, true])
    }
  })

  test('have the severity in the list of alerts by which they are routed: critical or warning', () => {
    const rows = textOf('docs/how-to/monitoring.md').split('\n')
    const alerts = rules.filter(({ alert }) => alert)
    const listed = (section = ''): string[] =>
      rows.filter(row => row.includes(`(../runbook.md#${section})`)).map(row => row.split(' | ')[2] ?? '')
    const severities = alerts.map(({ labels }) => labels?.severity)
    expect(new Set(severities)).toEqual(new Set(['critical', 'warning']))
    expect(
      alerts.map(({ alert, annotations }) => [alert, ...new Set(listed(annotations?.runbook.split('#')[1]))]),
    ).toEqual(alerts.map(({ alert, labels }) => [alert, labels?.severity]))
  })
})

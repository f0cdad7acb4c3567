import './disputes/life.ts'

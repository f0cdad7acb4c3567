import './forecast/outlooks.ts'

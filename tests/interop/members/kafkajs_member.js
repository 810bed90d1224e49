// A member of a group that uses kafkajs, as a process. It says the same as the members written in Python.
'use strict'

const { Kafka, logLevel } = require('kafkajs')
const ConsumerGroup = require('kafkajs/src/consumer/consumerGroup')

const orders = JSON.parse(process.argv[2])
const kafka = new Kafka({
  brokers: orders.bootstrap.split(','),
  clientId: 'member',
  logLevel: logLevel.NOTHING,
  retry: { initialRetryTime: 50, maxRetryTime: 200, retries: 1000 }
})
const consumer = kafka.consumer({
  groupId: orders.group,
  sessionTimeout: orders.session_timeout_ms,
  heartbeatInterval: orders.heartbeat_interval_ms,
  rebalanceTimeout: 10000,
  maxWaitTimeInMs: 50
})

let generation = -1
let owned = []

// The client shows the generation nowhere in time: it is read where it has just been agreed on.
const joinAndSync = ConsumerGroup.prototype.joinAndSync
ConsumerGroup.prototype.joinAndSync = async function () {
  const result = await joinAndSync.call(this)
  if (owned.length) tell('revoked', { partitions: owned, owned: [] })
  generation = this.generationId
  owned = this.assigned().flatMap(({ topic, partitions }) => partitions.map(partition => [topic, partition]))
  tell('assigned', { partitions: owned, owned })
  return result
}

function tell (event, facts) {
  process.stdout.write(JSON.stringify({ event, generation, ...facts }) + '\n')
}

async function eachBatch ({ batch }) {
  const records = batch.messages.map(m => [batch.topic, batch.partition, Number(m.offset), m.value.toString()])
  const at = generation
  tell('processed', { records })
  const offset = Number(batch.lastOffset()) + 1
  try {
    await consumer.commitOffsets([{ topic: batch.topic, partition: batch.partition, offset: String(offset) }])
  } catch (error) {
    tell('failed', { what: 'commit', error: String(error) })
    throw error
  }
  process.stdout.write(JSON.stringify({
    event: 'committed', generation: at, offsets: [[batch.topic, batch.partition, offset]]
  }) + '\n')
}

async function main () {
  process.stdin.on('end', async () => {
    await consumer.disconnect()
    tell('closed', {})
    process.exit(0)
  })
  process.stdin.resume()
  await consumer.connect()
  await consumer.subscribe({ topics: orders.topics, fromBeginning: true })
  await consumer.run({ autoCommit: false, eachBatch })
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})

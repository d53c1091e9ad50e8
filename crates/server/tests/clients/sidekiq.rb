# Sidekiq at work: what it promises of jobs must hold with Bobbin beneath.
#
#     ruby sidekiq.rb PORT
#
# All of it must hold with redis-server beneath, too.

require "sidekiq"
require "sidekiq/api"
require "sidekiq/launcher"

# What this release of redis-rb would have Sidekiq write otherwise.
Redis.silence_deprecations = true
$stdout.sync = true
Sidekiq.strict_args!
Sidekiq.logger = Logger.new(IO::NULL)
connection = { url: "redis://127.0.0.1:#{ARGV[0]}/0", size: 20 }
Sidekiq.configure_client { |config| config.redis = connection }
Sidekiq.configure_server { |config| config.redis = connection }

RAN = Queue.new

def check(expected, found, what = "")
  raise "#{what}: expected #{expected.inspect}, found #{found.inspect}" unless expected == found
end

def wait_until(what)
  3000.times do
    return if yield
    sleep 0.01
  end
  raise "what was waited for did not happen: #{what}"
end

class Double
  include Sidekiq::Worker
  sidekiq_options queue: "default", retry: false

  def perform(number)
    RAN << [number * 2, jid]
  end
end

class Troubled
  include Sidekiq::Worker
  sidekiq_options queue: "low", retry: 1

  def perform(how)
    RAN << [how, jid]
    raise "it fails" if how == "always"
  end
end

class Slow
  include Sidekiq::Worker
  sidekiq_options queue: "slow", retry: true
  BEGUN = Queue.new

  def perform(seconds)
    BEGUN << jid
    sleep seconds
    RAN << [seconds, jid]
  end
end

# A server with its threads, as `sidekiq` starts one, for as long as the block runs.
def serving(queues, timeout: 8, concurrency: 8)
  settings = { queues: queues, concurrency: concurrency, timeout: timeout, poll_interval_average: 0.1, environment: "test" }
  options = Sidekiq.options.merge(settings)
  Sidekiq.options.merge!(options)
  launcher = Sidekiq::Launcher.new(options)
  launcher.run
  yield launcher
ensure
  launcher.stop
  # Counts are written every five seconds, and when a process ends.
  Sidekiq::Launcher.flush_stats
end

def taken(count)
  (0...count).map { RAN.pop }
end

def many
  jids = Double.perform_bulk((0...300).map { |number| [number] })
  check 300, jids.uniq.size
  queue = Sidekiq::Queue.new("default")
  check 300, queue.size
  check jids.last, queue.first.jid, "the newest is listed first"
  check true, queue.latency >= 0
  check 7, queue.find_job(jids[7]).args.first
  queue.find_job(jids[7]).delete
  check 299, queue.size
  check ["default"], Sidekiq::Queue.all.map(&:name)
  before = Sidekiq::Stats.new.processed
  serving(%w[default]) do
    ran = taken(299)
    check ((0...300).to_a - [7]).map { |number| number * 2 }, ran.map(&:first).sort, "each ran once"
    wait_until("processes report themselves") { Sidekiq::ProcessSet.new.size == 1 }
    check 8, Sidekiq::ProcessSet.new.first["concurrency"]
  end
  check 299, Sidekiq::Stats.new.processed - before
  check 0, Sidekiq::ProcessSet.new.size
  check 0, queue.size
end

def later
  first = Double.perform_in(0.5, 1)
  second = Double.perform_at(Time.now.to_f + 3600, 2)
  scheduled = Sidekiq::ScheduledSet.new
  check 2, scheduled.size
  check [first, second], scheduled.map(&:jid).reverse, "the latest is listed first"
  check 1, scheduled.scan("*#{second}*").count
  serving(%w[default]) do
    check [2, first], RAN.pop
    scheduled.find_job(second).reschedule(Time.now.to_f + 0.2)
    check [4, second], RAN.pop
  end
  check 0, scheduled.size
end

def troubles
  jid = Troubled.perform_async("always")
  dead = Sidekiq::DeadSet.new
  serving(%w[low]) do
    check ["always", jid], RAN.pop
    retries = Sidekiq::RetrySet.new
    wait_until("it is to be tried again") { retries.size == 1 }
    check ["it fails", 0], retries.first.item.values_at("error_message", "retry_count")
    retries.first.add_to_queue
    check ["always", jid], RAN.pop
    wait_until("it is dead") { dead.size == 1 }
  end
  check ["it fails", 1], dead.first.item.values_at("error_message", "retry_count")
  check 0, Sidekiq::RetrySet.new.size
  check 2, Sidekiq::Stats.new.failed
  dead.first.delete
  check 0, dead.size
  Troubled.perform_async("never")
  Troubled.perform_async("never")
  check 2, Sidekiq::Queue.new("low").size
  Sidekiq::Queue.new("low").clear
  check 0, Sidekiq::Queue.new("low").size
end

def stopping
  jid = Slow.perform_async(60)
  # With a thread more that waits for work, that one could take what is given back.
  serving(%w[slow], timeout: 0.2, concurrency: 1) { check jid, Slow::BEGUN.pop }
  queue = Sidekiq::Queue.new("slow")
  check [jid], queue.map(&:jid), "what was not done goes back"
  queue.clear
end

def batches
  jobs = (0...50).map { |number| Sidekiq::Client.push("class" => "Double", "args" => [number], "queue" => "default") }
  Sidekiq.redis do |redis|
    check 50, redis.llen("queue:default")
    results = redis.pipelined do |pipeline|
      pipeline.lrange("queue:default", 0, 0)
      pipeline.zadd("own", [[1.5, "a"], [2, "b"]])
    end
    check jobs.last, Sidekiq.load_json(results[0][0])["jid"]
    check 2, results[1]
    check [["a", 1.5], ["b", 2.0]], redis.zrange("own", 0, -1, with_scores: true)
    check "OK", redis.multi { |transaction| transaction.set("own text", "x") }.first
    check 2, redis.unlink("own", "own text")
    check true, redis.info.key?("redis_version")
  end
  serving(%w[default]) { check jobs.sort, taken(50).map(&:last).sort }
end

[:many, :later, :troubles, :stopping, :batches].each do |step|
  send(step)
  check true, RAN.empty?, step.to_s
end
puts "Sidekiq: all steps done"
exit!(0)
